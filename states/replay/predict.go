package replay

import (
	"context"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
)

// Prediction is the cut that replay expects a hook to make of a result.
type Prediction struct {
	Step   int // index of the result's step
	Pruned bool
	Body   existing.Body
	Cut    existing.Cut // if the result is pruned

	Call   history.ToolCall
	Needed map[int]bool // lines of the body that the agent used later, from 1
}

// Predict returns the predictions for the results of a session that a later prompt contains. The test of the hooks
// compares them with the hooks' output.
func Predict(ctx context.Context, s sessions.Session, others history.OtherTools) ([]Prediction, error) {
	t, err := try(ctx, sessions.NewBill(s, sessions.DefaultPrices), others, false, Experiment{})
	if err != nil {
		return nil, err
	}
	var list []Prediction
	for i, r := range t.Results {
		p := Prediction{Step: r.Step}
		a, tried := t.attempts[i]
		if p.Pruned = tried && t.prunes(Hook, a); p.Pruned {
			p.Body, p.Cut, p.Call, p.Needed = a.body, a.cut, r.Parsed, map[int]bool{}
			for _, n := range t.needs[i] {
				if n.Rule != RuleWide {
					p.Needed[n.Line+1] = true
				}
			}
		}
		if r.Weight > 0 {
			list = append(list, p)
		}
	}
	return list, nil
}
