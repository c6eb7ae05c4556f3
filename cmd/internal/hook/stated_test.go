package hook

import (
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the numbers of the hooks' page to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/HOOKS.md")
	page.Says("%s seconds passed) the hook prints nothing", "longest", longest/time.Second)
	page.Says("Up to %s ms of that can be a wait", "lateBy", lateBy/time.Millisecond)
	page.Says("whose form is rare in it, at most %s tokens", "mostLong", mostLong)
	page.Says("adds at most %s tokens", "mostAdded", mostAdded)
	page.Says("%s MiB; links are not followed", "maxSpill", maxSpill>>20)
	page.Says("from transcripts of at most %s MiB", "maxBilled", maxBilled>>20)
	page = stated.On(t, "docs/GC.md")
	page.Says("names the %s largest", "maxReminded", maxReminded)
}
