package terminal

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the least that is saved of lines that show progress to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/HOOKS.md")
	page.Says("would become less than %s bytes", "LeastSaved", LeastSaved)
}
