package planner

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the planner's numbers to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/GC.md")
	page.Says("frees at least %s tokens and pays", "MinFreed", DefaultPolicy().MinFreed)
	page.Says("pays within %s calls, and", "MaxPay", DefaultPolicy().MaxPay)
	page.Says("no more than %s % of its cost", "MaxLoss", DefaultPolicy().MaxLoss*100)
	page.Says("so far (%s % if", "SoonLoss", DefaultPolicy().SoonLoss*100)
	page.Says("the batch pays within %s calls);", "SoonPay", DefaultPolicy().SoonPay)
	page.Says("clears above %s tokens", "FixedRule.Above", BestFixedRule().Above)
	page.Says("frees at least %s. Anthropic", "FixedRule.Free", BestFixedRule().Free)
	page.Says("written again, at %s instead", "Prices.Write", DefaultPrices().Write)
	page.Says("instead of %s times the price", "Prices.Read", DefaultPrices().Read)
	page = stated.On(t, "docs/GC.md")
	page.Says("keeps the last %s results, pinned", "KeepLast", DefaultPolicy().KeepLast)
	page.Says("a file for %s calls after it was read", "YoungFor", DefaultPolicy().YoungFor)
	page.Says("and for %s after it was edited", "EditedFor", DefaultPolicy().EditedFor)
	page.Says("keeps the last %s results, and frees", "FixedRule.Keep", BestFixedRule().Keep)
	page.Says("would have paid within %s calls", "SoonPay", DefaultPolicy().SoonPay)
}
