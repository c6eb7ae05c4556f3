package hook

import (
	"testing"
	"time"

	"mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the numbers of the hooks' page to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/HOOKS.md")
	page.Says("%s seconds passed) the hook prints nothing", "longest", longest/time.Second)
	page.Says("Up to %s ms of that can be a wait", "lateBy", lateBy/time.Millisecond)
	page.Says("not above %s bytes, where Codex", "codexShows", codexShows)
}
