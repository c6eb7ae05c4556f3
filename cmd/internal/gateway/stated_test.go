package gateway

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the numbers of the gateway's page to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/GATEWAY.md")
	page.Says("of servers with %s tools or more", "findFrom", findFrom)
	page.Says("`limit` (%s tools for each step)", "foundByDefault", foundByDefault)
}
