package replay

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the numbers of the bill to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/evidence/BILL.md")
	page.Says("before it %s tokens of system prompt", "modelledSystem", sessions.ModelledSystem)
	page.Says("cache write %s, cache read", "CacheWrite", sessions.DefaultPrices.CacheWrite)
	page.Says("cache read %s, output", "CacheRead", sessions.DefaultPrices.CacheRead)
	page.Says("cache read 0.1, output %s.", "Output", sessions.DefaultPrices.Output)
	page.Says("bash and grep of %s tokens and more", "limitFrom", limitFrom)
	page.Says("(our MCP tools only): %s tokens and the question", "askTokens", askTokens)
	page.Says("(MCP only): %s tokens in every prompt", "definitionTokens", definitionTokens)
	page.Says("cache-read price and %s output tokens)", "turnTokens", sessions.TurnTokens)
	page = stated.On(t, "docs/decisions/077-how-a-bill-is-counted.md")
	page.Says("counts results of %s tokens and more", "limitFrom", limitFrom)
	page.Says("o200k tokens times %s (", "ClaudePerToken", tokens.ClaudePerToken)
	page.Says("session loses when its net is below %s %", "losing", losing)
	page = stated.On(t, "docs/evidence/BILL.md")
	page.Says("sessions whose net is below %s % of", "losing", losing)
}
