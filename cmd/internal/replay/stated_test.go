package replay

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the numbers of the bill to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/BILL.md")
	page.Says("before it %s tokens of system prompt", "modelledSystem", modelledSystem)
	page.Says("cache write %s, cache read", "CacheWrite", DefaultPrices.CacheWrite)
	page.Says("cache read %s, output", "CacheRead", DefaultPrices.CacheRead)
	page.Says("output %s (`--prices`", "Output", DefaultPrices.Output)
	page.Says("bash and grep of %s tokens and more", "limitFrom", limitFrom)
	page.Says("(our MCP tools only): %s tokens and the question", "askTokens", askTokens)
	page.Says("(MCP only): %s tokens in every prompt", "definitionTokens", definitionTokens)
	page.Says("cache-read price and %s output tokens)", "turnTokens", turnTokens)
	page.Says("later edit (at most %s lines,", "maxEditLines", maxEditLines)
	page.Says("agent's words (%s characters and more", "quoteChars", quoteChars)
	page.Says("first shown here, within %s calls)", "quoteCalls", quoteCalls)
	page.Says("or a new file (%s characters, or", "quoteCodeChars", quoteCodeChars)
	page.Says("or in new code, within %s calls", "nameCalls", nameCalls)
	page.Says("next search looks for, within %s calls", "lookCalls", lookCalls)
	page.Says("next look opens (at most %s lines", "maxLookLines", maxLookLines)
	page.Says("lines and %s hits)", "maxLookHits", maxLookHits)
	page.Says("Lines shorter than %s characters do not", "minLine", minLine)
	page = stated.On(t, "docs/decisions/077-how-a-bill-is-counted.md")
	page.Says("counts results of %s tokens and more", "limitFrom", limitFrom)
	page.Says("o200k tokens times %s (", "ClaudePerToken", tokens.ClaudePerToken)
	page.Says("session loses when its net is below %s %", "losing", losing)
	page = stated.On(t, "docs/BILL.md")
	page.Says("sessions whose net is below %s % of", "losing", losing)
	page.Says("Its weight is %s for call i", "CacheWrite", DefaultPrices.CacheWrite)
	page.Says("until the next compaction %s, or", "CacheRead", DefaultPrices.CacheRead)
	page.Says("compaction 0.1, or %s where the cache", "CacheWrite", DefaultPrices.CacheWrite)
}
