package upstream

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the numbers of the gateway's page to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/GATEWAY.md")
	page.Says("At most %s tools are made", "maxTools", maxTools)
	page.Says("A name of more than %s characters", "maxName", maxName)
	page.Says("a server's part has at most %s.", "maxPrefix", maxPrefix)
	page.Says("until %s of the list's tokens", "TrimTarget", TrimTarget)
	page.Says("so does a text with %s words or more", "unguessable", unguessable)
	page = stated.On(t, "docs/GATEWAY.md")
	page.Says("`--target` (%s) is", "DefaultTarget", DefaultTarget)
	page.Says("At %s little more than", "DefaultTarget", DefaultTarget)
	page = stated.On(t, "testdata/help.txt")
	page.Says("less keeps more prose (default %s)", "DefaultTarget", DefaultTarget)
	page = stated.On(t, "docs/decisions/060-how-the-gateway-groups.md")
	page.Says("`--target` defaults to %s,", "DefaultTarget", DefaultTarget)
	page.Says("the specified %s % over", "DefaultTarget", DefaultTarget*100)
}

// TestStatedOfATinyList ties what the page says of a list that trim makes longer. It needs the benchmark's lists.
func TestStatedOfATinyList(t *testing.T) {
	page := stated.On(t, "docs/GATEWAY.md")
	for _, s := range benchServers(t) {
		if s.Name == "Hugeicons MCP Server" {
			after := ListTokens(Expose(s, Trimmed, Options{Tokens: tokens.Estimate, Target: DefaultTarget}), tokens.Estimate)
			page.Says("Hugeicons have %s tokens of their own", "RawTokens", RawTokens(s.Tools, tokens.Estimate))
			page.Says("of their own and %s behind the gateway", "ListTokens", after)
		}
	}
}
