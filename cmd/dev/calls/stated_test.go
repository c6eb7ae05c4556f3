//go:build unix

package calls

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// The numbers that the pages state of the calls are those of the test.
func TestStated(t *testing.T) {
	page := stated.On(t, "README.md")
	page.Says("[%s realistic calls]", "len(cases)", len(cases(t)))
	page = stated.On(t, "docs/PRUNING.md")
	page.Says("has at most %s tokens; from", "gapTokens", gapTokens)
	page.Says("has a note of at most %s tokens", "noteTokens", noteTokens)
	page = stated.On(t, "docs/decisions/048-the-learned-ranking-needs-a-session.md")
	page.Says("of %s realistic calls", "len(cases)", len(cases(t)))
}
