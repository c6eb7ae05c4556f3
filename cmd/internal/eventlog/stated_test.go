package eventlog

import (
	"testing"
	"time"

	"mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the patience of the event log to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/AUDIT.md")
	page.Says("nobody has read the log for %s ms", "patience", patience/time.Millisecond)
}
