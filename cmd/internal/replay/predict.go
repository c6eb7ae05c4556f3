package replay

import (
	"context"

	"mcp-pruner/cmd/internal/fresh"
	"mcp-pruner/cmd/internal/sessions"
	"mcp-pruner/pruneclient/history"
)

// Prediction is what replay says that a hook does with a result.
type Prediction struct {
	Step   int // index of the result's step
	Pruned bool
	Body   fresh.Body
	Cut    fresh.Cut // if the result is pruned
}

// Predict returns the predictions for the results of a session that a later prompt contains. The test of the hooks
// compares them with what the hooks do.
func Predict(ctx context.Context, s sessions.Session, others history.OtherTools) ([]Prediction, error) {
	t, err := try(ctx, newBill(s, DefaultPrices), Settings{Policies: []Policy{Hook}, Others: others})
	if err != nil {
		return nil, err
	}
	var list []Prediction
	for i, r := range t.results {
		p := Prediction{Step: r.step}
		a, tried := t.attempts[i]
		if p.Pruned = tried && t.prunes(Hook, a); p.Pruned {
			p.Body, p.Cut = a.body, a.cut
		}
		if r.weight > 0 {
			list = append(list, p)
		}
	}
	return list, nil
}
