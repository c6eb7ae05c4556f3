package existing

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the numbers that the pages state to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/HOOKS.md")
	page.Says("at most %s characters (UTF-16 units)", "MaxNote", MaxNote)
	page.Says("tests a line of %s bytes and more", "clippedFrom", clippedFrom)
	page.Says("keeps %s bytes at each end", "clippedEnd", clippedEnd)
	stated.On(t, "docs/GC.md").Says("one line of at most %s tokens", "MaxStub", MaxStub)
}
