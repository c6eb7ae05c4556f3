package replay

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStatedOfNeeds ties the bounds of the rules to their constants.
func TestStatedOfNeeds(t *testing.T) {
	page := stated.On(t, "docs/evidence/BILL.md")
	page.Says("later edit (at most %s lines,", "maxEditLines", maxEditLines)
	page.Says("agent's words (%s characters and more", "quoteChars", quoteChars)
	page.Says("first shown here, within %s calls)", "quoteCalls", quoteCalls)
	page.Says("or a new file (%s characters, or", "quoteCodeChars", quoteCodeChars)
	page.Says("or in new code, within %s calls", "nameCalls", nameCalls)
	page.Says("next search looks for, within %s calls", "lookCalls", lookCalls)
	page.Says("next look opens (at most %s lines", "maxLookLines", maxLookLines)
	page.Says("lines and %s hits)", "maxLookHits", maxLookHits)
	page.Says("Lines shorter than %s characters do not", "minLine", minLine)
}
