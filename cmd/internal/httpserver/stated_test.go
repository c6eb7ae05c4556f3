package httpserver

import (
	"testing"
	"time"

	"mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the numbers of the server over HTTP to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/HTTP.md")
	page.Says("body is larger than %s MiB", "maxBodyBytes", maxBodyBytes>>20)
	page.Says("keeps the %s most recently used sessions", "maxSessions", maxSessions)
	page.Says("each for %s minutes after its last use", "maxIdle", maxIdle/time.Minute)
	page.Says("answers running ones within %s s", "finishWithin", finishWithin/time.Second)
	page.Says("took longer than %s s |", "bodyWithin", bodyWithin/time.Second)
}
