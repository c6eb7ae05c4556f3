package lineprune

import "context"

// Survey is what Prune sees in a text before it chooses, for whoever wants to
// choose by other scores, or more than once.
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

// With is the same survey under other options. Those that tell what the text is
// change nothing any more.
func (s Survey) With(opts Options) Survey {
	p := *s.p
	p.opts = opts
	s.p = &p
	return s
}

// Choose is what Prune returns.
func (s Survey) Choose() Result { return s.p.result() }

// Keep chooses lines in the given order (0 is the first line) until the limits
// of the survey's options are met, but one at least, with the protections of Prune: what must stay
// stays, what belongs together stays together, and definitions, headings and
// imports come along, as far as they are a small part of the text. With a Marker,
// gaps that are no longer than theirs are kept.
func (s Survey) Keep(order []int) Result {
	p := *s.p
	keep := p.protect()
	f := p.newFill(keep)
	f.reach(order, max(limitsOf(len(keep), p.opts).minKept, 1))
	f.allowance = f.used + int(extraShare*float64(p.d.total))
	f.surround()
	f.skeleton()
	if p.opts.Marker != nil {
		// As with a budget: of a gap only its marker's length matters.
		p.opts.Budget = 1
		p.bridge(keep)
	}
	res := Result{Kind: p.kind, Total: len(keep), Confidence: p.confidence}
	res.set(keep)
	return res
}

// skeletonShare is how much of the tokens goes into definitions that enclose
// nothing kept. More would not pay: each of them takes a marker, too.
const skeletonShare = 0.03

// skeleton keeps some definitions that enclose nothing kept, outer ones first:
// lines chosen by meaning alone can lie anywhere, and an outline says where.
func (f *fill) skeleton() {
	if f.p.kind != Code {
		return
	}
	f.allowance = f.used + int(skeletonShare*float64(f.p.d.total))
	for _, outer := range []bool{true, false} {
		for _, u := range f.p.outline.units {
			if u.head < 0 || (u.parent < 0) != outer || f.keep[u.head] != dropped {
				continue
			}
			if !f.besideKept(u.head) {
				f.used += markerTokens
			}
			if !f.add(u.head, definition) {
				return
			}
		}
	}
}

func (f *fill) besideKept(i int) bool {
	return i > 0 && f.keep[i-1] != dropped || i+1 < len(f.keep) && f.keep[i+1] != dropped
}
