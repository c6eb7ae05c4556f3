package httpserver

import (
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the numbers of the server over HTTP to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/HTTP.md")
	page.Says("body is larger than %s MiB", "maxBodyBytes", maxBodyBytes>>20)
	page.Says("keeps the %s most recently used sessions", "maxSessions", maxSessions)
	page.Says("each for %s minutes after its last use", "maxIdle", maxIdle/time.Minute)
	page.Says("took longer than %s s |", "bodyWithin", bodyWithin/time.Second)
	page = stated.On(t, "docs/HTTP.md")
	page.Says("counts these, every %s s at most", "strangersEvery", strangersEvery/time.Second)
	page.Says("headers above %s KiB", "maxHeaderBytes", web.MaxHeaderBytes>>10)
	page = stated.On(t, "docs/AUDIT.md")
	page.Says("idle for %s minutes", "maxIdle", maxIdle/time.Minute)
	page = stated.On(t, "docs/TEAMS.md")
	page.Says("remembers the %s sessions", "maxSessions", maxSessions)
	page = stated.On(t, "docs/evidence/PERFORMANCE.md")
	page.Says("after %s sessions were opened", "manySessions", manySessions)
	page = stated.On(t, "docs/decisions/056-markers-under-a-reranker.md")
	page.Says("A body over %s MiB gets", "maxBodyBytes", maxBodyBytes>>20)
	page.Says("a body that stops for %s s", "stall", stall/time.Second)
	page.Says("nothing of its answer for %s s", "stall", stall/time.Second)
}
