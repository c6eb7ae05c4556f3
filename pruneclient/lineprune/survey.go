package lineprune

import "context"

// Survey is what Prune sees in a text before it chooses, for whoever wants to
// choose by other scores.
type Survey struct {
	Kind      Kind
	Score     []float64 // per line, how relevant it is to the question
	Protected []bool    // per line, kept whatever the question
}

// Look surveys a text. It checks ctx as Prune does.
func Look(ctx context.Context, text, question string, kind Kind, opts Options) (Survey, error) {
	p, err := study(ctx, text, question, kind, opts)
	if err != nil {
		return Survey{}, err
	}
	return Survey{Kind: p.kind, Score: p.relevance.score, Protected: protected(p.d)}, nil
}
