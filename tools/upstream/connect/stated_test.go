package connect

import (
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the gateway's times to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/GATEWAY.md")
	page.Says("cancelled within the last %s s,", "cancelledFor", cancelledFor/time.Second)
	page.Says("has %s s to start and", "startWithin", startWithin/time.Second)
	page.Says("to start and %s s to list", "listWithin", listWithin/time.Second)
}
