package replay

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

// limitKept is the share of a result that the perfect pruner keeps whose saving losses are counted from.
const limitKept = .2

// limitFrom is the size in tokens from which a result counts for Limit.
const limitFrom = 1000

// Loss is a part of the difference between the saving of a perfect pruner and that of a policy. In a session the losses add up
// to that difference.
type Loss struct {
	Tool   string
	Tokens int
	Cause  string
	Cost   float64 // in fresh input tokens; negative where a policy saves what the limit does not count
}

// Losses returns the losses of a pruning policy against the limit in the session, result by result.
func (f *Figures) Losses(p Policy) []Loss {
	rows := map[int]row{}
	for _, r := range f.outcomes[p].rows {
		rows[r.a.result] = r
	}
	var list []Loss
	for i, r := range f.Results {
		add := func(cause string, cost float64) {
			if cost != 0 {
				list = append(list, Loss{f.toolOf(r), r.Tokens, cause, cost})
			}
		}
		best := 0.0
		if inLimit(r) {
			best = (1 - limitKept) * float64(r.Tokens) * r.Weight
		}
		cut, pruned := rows[i]
		switch {
		case !pruned:
			add("whole: "+f.whole(i), best)
			continue
		case best == 0:
			add("not in the limit", -cut.saved)
		case cut.saved < best && cut.a.decision.Careful:
			add("too little: being edited", best-cut.saved)
		case cut.saved < best:
			add("too little", best-cut.saved)
		default:
			add("deeper than the limit", best-cut.saved)
		}
		add("header and markers", cut.added)
		add("misses", cut.miss)
	}
	return list
}

// inLimit reports whether a result counts for Limit.
func inLimit(r sessions.ResultCost) bool {
	return r.Tokens >= limitFrom && (r.Kind == history.Read || r.Kind == history.Bash || r.Kind == history.Grep)
}

// whole returns why a result stayed whole.
func (f *Figures) whole(i int) string {
	a, tried := f.attempts[i]
	switch {
	case f.Session.Steps[f.Results[i].Step].Err:
		return "failed call"
	case !tried:
		return "not looked at"
	case a.err != nil:
		return "error"
	case !a.decision.Prune:
		return a.decision.Why
	}
	return "the pruner kept it, " + string(a.cut.Kind)
}
