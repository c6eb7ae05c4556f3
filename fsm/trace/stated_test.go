package trace

import (
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the times of a trace to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/AUDIT.md")
	page.Says("in batches, %s ms after the first", "gather", gather/time.Millisecond)
	page.Says("the lines of the last %s ms", "gather", gather/time.Millisecond)
	page = stated.On(t, "docs/AUDIT.md")
	page.Says("version of this format: %s.", "SchemaVersion", SchemaVersion)
}
