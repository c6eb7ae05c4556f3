package lineprune

import "context"

// Prune selects the lines of text that answer question. It checks ctx while
// scoring and returns ctx's error when it ends.
func Prune(ctx context.Context, text, question string, kind Kind, opts Options) (Result, error) {
	q := newQuestion(question)
	d, err := scan(ctx, text, q)
	if err != nil {
		return Result{}, err
	}
	kind = detect(d, kind, opts)
	p := &pruning{d: d, q: q, kind: kind, opts: opts, outline: outlineOf(d, kind)}
	if p.relevance, err = score(ctx, d, q, p.outline, kind); err != nil {
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
}

func (p *pruning) result() Result {
	res := Result{Kind: p.kind, Total: len(p.d.lines), Confidence: p.relevance.coverage}
	if why := p.refuse(); why != "" {
		res.Warnings = []string{why}
		res.set(keepAll(len(p.d.lines)))
		return res
	}
	keep := p.choose()
	res.set(keep)
	if p.opts.Explain {
		for i, s := range p.relevance.score {
			res.Lines = append(res.Lines, Line{Score: s, Kept: keep[i], Why: "terms"})
		}
	}
	if p.opts.Budget == 0 && p.gain(keep) < minGain {
		res.Warnings = []string{NoGain}
		res = Result{Kind: res.Kind, Total: res.Total, Confidence: res.Confidence, Warnings: res.Warnings}
		res.set(keepAll(len(p.d.lines)))
	}
	return res
}

// minGain is the share of a text's tokens that pruning has to save to be worth it.
const minGain = 0.1

// Gates of a text that is pruned without a budget.
const (
	minTokens   = 250 // below, a text is cheaper whole than asked for twice
	minCoverage = 0.34
	freeShare   = 0.5 // largest share kept
	freeFloor   = 0.3 // of the best line's score
)

// refuse says why a text comes back whole before anything is chosen, or "".
func (p *pruning) refuse() string {
	switch {
	case p.opts.MinKeepLines > len(p.d.lines):
		return ConstraintsUnmet
	case looksLikeDiff(p.d):
		return IsDiff
	case p.opts.Budget > 0:
		return ""
	case p.d.total < minTokens:
		return TooShort
	case p.relevance.coverage < minCoverage && !(p.kind == Logs && p.q.failure):
		return LowConfidence
	}
	return ""
}

func (p *pruning) choose() []bool {
	keep := protected(p.d)
	allowance, floor := int(p.opts.Budget*float64(p.d.total)), 0.0
	if p.opts.Budget == 0 {
		allowance = int(freeShare * float64(p.d.total))
		floor = freeFloor * p.relevance.best()
	}
	order := p.relevance.ranking()
	p.fill(keep, order, allowance, floor)
	if p.opts.Budget == 0 {
		p.bridge(keep)
	}
	p.reach(keep, order, limitsOf(len(p.d.lines), p.opts).minKept)
	return keep
}

// gain is the share of tokens saved, markers counted.
func (p *pruning) gain(keep []bool) float64 {
	used, gap := 0, false
	for i, k := range keep {
		switch {
		case k:
			used += int(p.d.tokens[i])
		case !gap:
			used += markerTokens
		}
		gap = !k
	}
	return 1 - float64(used)/float64(max(p.d.total, 1))
}

// markerTokens is about what one marker costs.
const markerTokens = 16

func keepAll(n int) []bool {
	keep := make([]bool, n)
	for i := range keep {
		keep[i] = true
	}
	return keep
}

func outlineOf(d *document, kind Kind) outline {
	switch kind {
	case Code:
		return codeOutline(d)
	case Docs:
		return docsOutline(d)
	}
	return flatOutline(d)
}

// set fills Kept and Blocks from a mask.
func (res *Result) set(keep []bool) {
	for i := 0; i < len(keep); i++ {
		if keep[i] {
			res.Kept = append(res.Kept, i+1)
			continue
		}
		start := i
		for i+1 < len(keep) && !keep[i+1] {
			i++
		}
		res.Blocks = append(res.Blocks, Block{start + 1, i + 1, offFocus})
	}
}
