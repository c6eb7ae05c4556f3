package planner

// FixedRule clears everything but the last results as soon as a prompt is large and
// enough can go. The planner is compared with it.
type FixedRule struct {
	Above int // tokens of the prompt
	Keep  int // last results
	Free  int // least tokens to free
}

// BestFixedRule is the rule that did best on recorded sessions.
func BestFixedRule() FixedRule { return FixedRule{Above: 40_000, Keep: 5, Free: 20_000} }

// Decide implements what Policy.Decide does.
func (f FixedRule) Decide(w Window) Decision {
	var d Decision
	if w.Tokens <= f.Above {
		return d
	}
	for i, item := range w.Items[:max(0, len(w.Items)-f.Keep)] {
		if !item.Cleared && !item.Pinned {
			d.Clear = append(d.Clear, i)
			d.Freed += item.Tokens
		}
	}
	if d.Freed < f.Free {
		return Decision{}
	}
	return d
}
