package upstream

import (
	"testing"

	"mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the numbers of the gateway's page to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/GATEWAY.md")
	page.Says("At most %s tools are made", "maxTools", maxTools)
	page.Says("A name of more than %s characters", "maxName", maxName)
	page.Says("a server's part has at most %s.", "maxPrefix", maxPrefix)
}
