package replay

import (
	"cmp"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// PlannerPrices returns the prices of the session's first call that writes to the cache in the form of the planner: for how long it
// is kept is the client's choice, which does not change within a session.
func (f *Figures) PlannerPrices() contextgc.Prices {
	for i, c := range f.Calls {
		if c.Usage.CacheWrite > 0 {
			return f.plannerPrices(i)
		}
	}
	return contextgc.Prices{Write: f.Prices.CacheWrite, Read: f.Prices.CacheRead, Output: f.Prices.Output}
}

// plannerPrices returns the prices of a call in the form of the planner.
func (f *Figures) plannerPrices(call int) contextgc.Prices {
	c := f.Calls[call]
	p := contextgc.Prices{Write: f.WritePrice(call), Read: c.Price.CacheRead, Output: c.Price.Output, LookBack: c.Price.LookBack()}
	m, _ := tokens.ModelOf(cmp.Or(f.Session.Steps[c.Step].Model, f.Session.Model()))
	if m.At(c.Prompt) != c.Price { // the user's
		return p
	}
	return p.Below(m.Bands, c.Prompt)
}

// clear returns the outcome of the planner, after the prunings of a policy if there are any, and sets the figures of policy gc
// if there are none.
func (f *Figures) clear(after *Outcome) Outcome {
	policy := contextgc.DefaultPolicy()
	policy.Prices = f.PlannerPrices()
	tape := f.tape(after)
	ours := tape.Play(policy, policy, false)
	wide := tape.Play(policy, policy, true)
	if after == nil {
		fixed := tape.Play(policy, contextgc.BestFixedRule(), false)
		f.cleared = cleared{input: ours.Before, change: ours.After - ours.Before, reread: ours.Reread, fixed: fixed.After - fixed.Before}
	}
	return Outcome{
		Gross: ours.Before - ours.After + ours.Reread, Misses: ours.Reread, Wide: ours.Reread + wide.After - ours.After,
		Pruned: ours.Cleared, Turns: ours.Turns, clearing: ours,
	}
}

// both returns the outcome of the hook with the planner after it: lines that the hook cut are not
// saved a second time by clearing, and the hook leaves alone what is left to clearing.
func (f *Figures) both() Outcome {
	hook := f.judge(Both)
	gc := f.clear(&hook)
	return Outcome{
		Gross: hook.Gross + gc.Gross, Markers: hook.Markers, Misses: hook.Misses + gc.Misses, Wide: hook.Wide + gc.Wide,
		Pruned: hook.Pruned + gc.Pruned, Missed: hook.Missed, Turns: hook.Turns + gc.Turns, parts: []Outcome{hook, gc},
	}
}
