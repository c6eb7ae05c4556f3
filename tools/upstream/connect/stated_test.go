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
	page.Says("background after %s s and then", "retryAfter", retryAfter/time.Second)
	page.Says("each time, up to %s minutes", "retryAtMost", retryAtMost/time.Minute)
	page.Says("A list ends after %s pages or", "maxPages", maxPages)
	page.Says("pages or %s MiB, which", "maxListBytes", maxListBytes>>20)
	page.Says("waits, from %s s up", "firstPause", firstPause.Seconds())
	page.Says("to %s s. A session's", "longestWait", longestWait/time.Second)
	page.Says("instructions after %s bytes", "maxInstructions", maxInstructions)
	page.Says("has %s s to start and", "startWithin", startWithin/time.Second)
	page.Says("to start and %s s to list", "listWithin", listWithin/time.Second)
}
