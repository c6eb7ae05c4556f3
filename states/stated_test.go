package states

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the pages' numbers to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/AUDIT.md")
	page.Says("pattern, each cut at %s KiB", "maxDetailBytes", maxDetailBytes>>10)
	page.Says("are kept, cut at %s bytes", "maxNameBytes", maxNameBytes)
	page = stated.On(t, "docs/TEAMS.md")
	page.Says("names are cut at %s bytes", "maxNameBytes", maxNameBytes)
}
