package store

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the size of what waits to its constant.
func TestStated(t *testing.T) {
	stated.On(t, "docs/AUDIT.md").Says("up to %s MiB of lines wait", "maxWaiting", maxWaiting>>20)
}
