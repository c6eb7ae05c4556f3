package gateway

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the numbers of the gateway's page to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/GATEWAY.md")
	page.Says("of servers with %s tools or more", "findFrom", findFrom)
	page.Says("of a client waits %s s at most", "greetWithin", greetWithin/time.Second)
	page.Says("or after %s idle minutes", "idleAfter", idleAfter/time.Minute)
	page.Says("may have %s connections", "maxLinksEach", maxLinksEach)
	page.Says("and the gateway %s; a further one", "maxLinks", maxLinks)
	page.Says(`{"max": %s, "max_each"`, "maxLinks", maxLinks)
	page.Says(`"max_each": %s, "idle_s"`, "maxLinksEach", maxLinksEach)
	page.Says(`"idle_s": %s}`, "idleAfter", idleAfter/time.Second)
	raw, err := json.Marshal(map[string]any{"name": findName, "description": findDescription, "input_schema": json.RawMessage(findSchema)})
	require.NoError(t, err)
	page.Says("`limit` (%s tools for each step)", "foundByDefault", foundByDefault)
	page = stated.On(t, "docs/evidence/GATEWAY.md")
	page.Says("carries with %s more of `find` itself", "findTool", tokens.Estimate(string(raw)))
}
