package contextgc

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the ledger's numbers to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/GC.md")
	page.Says("Type is %s for a log", "worth[Log]", worth[Log])
	page.Says("for a log, %s note", "worth[Note]", worth[Note])
	page.Says("note, %s code", "worth[Code]", worth[Code])
	page.Says("code, %s message", "worth[Message]", worth[Message])
	page.Says("message, %s summary", "worth[Summary]", worth[Summary])
	page.Says("summary, %s decision", "worth[Decision]", worth[Decision])
}
