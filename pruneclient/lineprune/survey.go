package lineprune

import "context"

// Survey is what Prune sees in a text before it chooses, for whoever wants to
// choose by other scores.
type Survey struct {
	Kind  Kind
	Score []float64 // per line, how relevant it is to the question

	p *pruning
}

// Look surveys a text. It checks ctx as Prune does.
func Look(ctx context.Context, text, question string, kind Kind, opts Options) (Survey, error) {
	p, err := study(ctx, text, question, kind, opts)
	if err != nil {
		return Survey{}, err
	}
	return Survey{Kind: p.kind, Score: p.relevance.score, p: p}, nil
}

// Keep chooses lines in the given order (0 is the first line) until the limits
// of the survey's options are met, with the protections of Prune: what must stay
// stays, what belongs together stays together, and definitions, headings and
// imports come along with what they enclose. With a Marker, gaps that are no
// longer than theirs are kept.
func (s Survey) Keep(order []int) Result {
	p := *s.p
	keep := p.protect()
	f := p.newFill(keep)
	f.reach(order, limitsOf(len(keep), p.opts).minKept)
	f.allowance = f.used + int(extraShare*float64(p.d.total))
	f.surround()
	if p.opts.Marker != nil {
		// As with a budget: of a gap only its marker's length matters.
		p.opts.Budget = 1
		p.bridge(keep)
	}
	res := Result{Kind: p.kind, Total: len(keep), Confidence: p.confidence()}
	res.set(keep)
	return res
}
