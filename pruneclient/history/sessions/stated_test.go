package sessions

import (
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties how far hooks read back to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/HOOKS.md")
	page.Says("MiB or %s ms, and decodes", "TailTime", TailTime/time.Millisecond)
	page = stated.On(t, "docs/decisions/077-how-a-bill-is-counted.md")
	page.Says("MiB or %s ms for reading", "TailTime", TailTime/time.Millisecond)
}
