package gaincmd

import (
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties a number of the hooks' page to its constant.
func TestStated(t *testing.T) {
	stated.On(t, "docs/HOOKS.md").Says("for at most %s ms, and prints it first", "firstWithin", firstWithin/time.Millisecond)
}
