package process

import (
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// The numbers that the pages state are the ones of the code.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/decisions/015-how-read-ends.md")
	page.Says("output is awaited for %s ms", "drainFor", drainFor/time.Millisecond)
}
