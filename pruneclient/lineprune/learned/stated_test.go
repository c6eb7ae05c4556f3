package learned

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// The numbers that the pages state are the ones of the code.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/evidence/LEARNED.md")
	page.Says("texts of more than %s lines", "MaxLines", MaxLines)
	page = stated.On(t, "docs/decisions/048-the-learned-ranking-needs-a-session.md")
	page.Says("texts of more than %s lines (for speed)", "MaxLines", MaxLines)
}
