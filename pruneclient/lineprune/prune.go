package lineprune

import (
	"context"
	"slices"
)

// Prune selects the lines of text that answer question. It checks ctx while
// scoring and returns ctx's error when it ends.
func Prune(ctx context.Context, text, question string, kind Kind, opts Options) (Result, error) {
	p, err := study(ctx, text, question, kind, opts)
	if err != nil {
		return Result{}, err
	}
	return p.result(), nil
}

// pruning is one call on its way to a result.
type pruning struct {
	d         *document
	q         *question
	kind      Kind
	opts      Options
	outline   outline
	relevance relevance

	statements []uint64 // per line, of a log that is full of one; nil: lines differ by their templates

	confidence float64
}

// study does everything short of choosing.
func study(ctx context.Context, text, question string, kind Kind, opts Options) (*pruning, error) {
	q, d := newQuestion(question), newDocument(text)
	kind = detect(d, kind, opts)
	if kind == Grep {
		d.locate()
	}
	if kind == Logs {
		d.takeFronts()
	}
	if err := d.match(ctx, text, q); err != nil {
		return nil, err
	}
	p := &pruning{d: d, q: q, kind: kind, opts: opts, outline: outlineOf(d, kind)}
	var err error
	p.relevance, err = score(ctx, d, q, p.outline, kind)
	p.confidence = p.trust()
	return p, err
}

func outlineOf(d *document, kind Kind) outline {
	switch kind {
	case Docs:
		return docsOutline(d)
	case Logs:
		return logsOutline(d)
	case Grep:
		return grepOutline(d)
	}
	return codeOutline(d)
}

func (p *pruning) result() Result {
	keep, warnings := p.decide()
	if slices.Contains(warnings, NoGain) {
		p = p.thinned()
		keep, warnings = p.decide()
	}
	res := Result{Kind: p.kind, Total: len(keep), Confidence: p.confidence, Warnings: warnings}
	res.set(keep)
	if p.opts.Explain {
		res.Lines, res.Terms = p.explain(keep), p.terms()
	}
	return res
}

// decide says of every line why it is kept, and what to warn of.
func (p *pruning) decide() (keep []cause, warnings []string) {
	warnings, whole := p.judge()
	keep = make([]cause, len(p.d.lines))
	if !whole {
		keep = p.choose()
		if why := p.regret(keep); why != "" {
			whole, warnings = true, appendOnce(warnings, why)
		}
	}
	if whole {
		for i := range keep {
			keep[i] = wholeText
		}
	}
	return keep, warnings
}

func (p *pruning) budgeted() bool { return p.opts.Budget > 0 }

// set fills Kept and Blocks.
func (res *Result) set(keep []cause) {
	for i := 0; i < len(keep); i++ {
		if keep[i] != dropped {
			res.Kept = append(res.Kept, i+1)
			continue
		}
		start := i
		for i+1 < len(keep) && keep[i+1] == dropped {
			i++
		}
		res.Blocks = append(res.Blocks, Block{start + 1, i + 1, offFocus})
	}
}

const offFocus = "hors focus"
