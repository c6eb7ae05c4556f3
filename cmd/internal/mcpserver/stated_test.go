package mcpserver

import (
	"testing"
	"time"

	"mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the numbers of both transports to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/HTTP.md")
	page.Says("| %s clients listen for changes", "maxListeners", maxListeners)
	page.Says("takes longer than %s s, the client gave", "progressEvery", progressEvery/time.Second)
	page.Says("`notifications/progress` every %s s", "progressEvery", progressEvery/time.Second)
	page.Says("arrives before its call is remembered for %s s.", "recentForgets", recentForgets/time.Second)
	page = stated.On(t, "docs/clients/claude-code.md")
	page.Says("Claude's own ceiling is %s.", "maxResultChars", maxResultChars)
}
