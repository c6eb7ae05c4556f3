package verbs

import (
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestGainStated ties a number of the hooks' page to its constant.
func TestGainStated(t *testing.T) {
	stated.On(t, "docs/HOOKS.md").Says("for at most %s ms, and prints it first", "statusFirstWithin", statusFirstWithin/time.Millisecond)
}
