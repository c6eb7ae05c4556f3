package telemetry

import (
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the number of series to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/TEAMS.md")
	page.Says("At most %s tools and", "mostNames", mostNames)
	page.Says("tools and %s reasons", "mostNames", mostNames)
	page = stated.On(t, "docs/TEAMS.md")
	page.Says("batches, each within %s s", "sendWithin", sendWithin/time.Second)
	page.Says("what is left has %s s.", "endWithin", endWithin/time.Second)
}
