package fsm

import (
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the patience of the event log to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/AUDIT.md")
	page.Says("nobody has read the log for %s ms", "patience", logPatience/time.Millisecond)
	page = stated.On(t, "docs/decisions/005-log-lines-never-block.md")
	page.Says("When %s lines are waiting", "capacity", logCapacity)
	page = stated.On(t, "docs/decisions/005-log-lines-never-block.md")
	page.Says("is waited for at most %s ms", "patience", logPatience/time.Millisecond)
}
