package audit

import (
	"testing"
	"time"

	"mcp-pruner/tools/tooltest/stated"
)

// TestStated ties what verify and stats state to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/AUDIT.md")
	page.Says("ended more than %s ms apart", "maxBatch", maxBatch/time.Millisecond)
	page.Says("over %s MiB is a problem", "maxLineBytes", maxLineBytes>>20)
}
