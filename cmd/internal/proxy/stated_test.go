package proxy

import (
	"net/http"
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the proxy's numbers to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/GC.md")
	page.Says("Requests over %s MiB", "maxBody", maxBody>>20)
	page.Says("ends after %s hours without a request", "idleInBackground", int(idleInBackground.Hours()))
	page.Says("the proxy tries every %s seconds", "tryAgainAfter", int(tryAgainAfter.Seconds()))
	page.Says("A conversation by WebSocket is refused with %s", "http.StatusUpgradeRequired", http.StatusUpgradeRequired)
	stated.On(t, "docs/TEAMS.md").Says("An answer comes within %s s or is an error", "decideWithin", int(decideWithin.Seconds()))
}
