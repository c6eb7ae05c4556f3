package ledger

import (
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// The numbers that the pages state are the ones of the code.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/GC.md")
	page.Says("at their start and every %s hours", "cleanEvery", cleanEvery/time.Hour)
}
