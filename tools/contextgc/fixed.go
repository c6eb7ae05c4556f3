package contextgc

// fixedRule clears all but the latest results once a prompt is large and enough can be
// freed. What the model has not seen yet stays. It is the baseline for the planner.
type fixedRule struct {
	Above int // minimum tokens of the prompt
	Keep  int // number of latest results to keep
	Free  int // minimum tokens to free
}

// BestFixedRule returns the rule with the best result on recorded sessions.
func BestFixedRule() fixedRule { return fixedRule{Above: 40_000, Keep: 5, Free: 20_000} }

// Decide returns the rule's decision for one prompt, in the form of Policy.Decide.
func (f fixedRule) Decide(w Window) ClearingDecision {
	var d ClearingDecision
	if w.Tokens <= f.Above {
		return d
	}
	for i, item := range w.Items[:w.last(f.Keep)] {
		if item.Kind != KindThought && !item.Cleared && !item.Pinned && item.Call < w.Call {
			d.Clear = append(d.Clear, i)
			d.Freed += item.Tokens
		}
	}
	if d.Freed < f.Free {
		return ClearingDecision{}
	}
	return d
}
