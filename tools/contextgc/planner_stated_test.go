package contextgc

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStatedOfPlanner ties the planner's numbers to their constants.
func TestStatedOfPlanner(t *testing.T) {
	p := DefaultPolicy()
	page := stated.On(t, "docs/GC.md")
	page.Says("frees at least %s tokens and", "MinFreed", p.MinFreed)
	page.Says("tokens and %s % of the prompt", "MinFreedOf", p.MinFreedOf*100)
	page.Says("pays within %s calls", "MaxPay", p.MaxPay)
	page.Says("more than %s % of the session's bill", "MaxLoss", p.MaxLoss*100)
	page.Says("ends soon (after the calls so far times %s)", "Ends", p.Ends)
	page.Says("goes on (for the calls so far times %s)", "GoesOn", p.GoesOn)
	page.Says("by %s standard deviation", "Deviations", p.Deviations)
	page.Says("no more than %s % may be lost", "MaxOnce", p.MaxOnce*100)
	page.Says("planner keeps the last %s results", "KeepLast", p.KeepLast)
	page.Says("was part of %s calls", "MinCalls", p.MinCalls)
	page.Says("for %s calls after it was edited", "EditedFor", p.EditedFor)
	page.Says("stays for %s calls", "AgainFor", p.AgainFor)
	page.Says("clears above %s tokens", "FixedRule.Above", BestFixedRule().Above)
	page.Says("keeps the last %s results, and frees", "FixedRule.Keep", BestFixedRule().Keep)
	page.Says("frees at least %s. Anthropic", "FixedRule.Free", BestFixedRule().Free)
	page.Says("written again, at %s instead", "Prices.Write", DefaultPrices().Write)
	page.Says("instead of %s times the price", "Prices.Read", DefaultPrices().Read)
}
