package proxy

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the proxy's numbers to their constants.
func TestStated(t *testing.T) {
	stated.On(t, "docs/GC.md").Says("Requests over %s MiB", "maxBody", maxBody>>20)
}
