package lineprune

import (
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

func (p *chooser) result() Result {
	switch {
	case p.wantsOutline():
		p = p.outlined()
	case p.budgeted() && p.Relevance.Best() <= 0:
		p = p.introduced()
	}
	keep, warnings := p.decide()
	if slices.Contains(warnings, NoGain) {
		p = p.thinned()
		keep, warnings = p.decide()
	}
	res := p.resultOf(keep, warnings)
	if p.opts.Explain {
		res.Lines, res.Terms = p.explain(keep), p.terms()
	}
	return res
}

// decide returns the reason for keeping each line, and the warnings.
func (p *chooser) decide() (keep []cause, warnings []string) {
	warnings, whole := p.judge()
	keep = make([]cause, len(p.Doc.Lines))
	if !whole {
		keep = p.choose()
		if why := p.objection(keep); why != "" {
			whole, warnings = true, appendOnce(warnings, why)
		}
	}
	if whole {
		keepAll(keep)
	}
	return keep, warnings
}

// resultOf returns the result of a choice. Every choice passes here: one that left nothing to read is
// replaced by the whole text, because a reader who gets no line cannot tell what was there.
func (p *chooser) resultOf(keep []cause, warnings []string) Result {
	if p.leavesNothing(keep) {
		keepAll(keep)
		warnings = appendOnce(warnings, LowConfidence)
	}
	res := Result{Kind: p.Kind, Total: len(keep), Confidence: p.confidence, Warnings: warnings, Scores: p.Relevance.Score}
	p.set(&res, keep)
	if !res.Whole() {
		res.Openings = p.openings(res.Scores)
		for i := range res.Blocks {
			p.describe(&res.Blocks[i], res.Openings)
		}
	}
	res.Note = p.note(res, warnings)
	return res
}

// set fills Kept and Blocks.
func (p *chooser) set(res *Result, keep []cause) {
	kept := 0
	for _, c := range keep {
		if c != dropped {
			kept++
		}
	}
	res.Kept = slices.Grow(res.Kept, kept)
	for i := 0; i < len(keep); i++ {
		if keep[i] != dropped {
			res.Kept = append(res.Kept, i+1)
			continue
		}
		start := i
		for i+1 < len(keep) && keep[i+1] == dropped {
			i++
		}
		res.Blocks = append(res.Blocks, p.block(start, i+1))
	}
}

// choose keeps the protected lines, then the best lines, then the definitions and imports they need, then
// as many more as the limits require.
func (p *chooser) choose() []cause {
	keep := p.protect()
	f := p.newFill(keep)
	f.keepNamed()
	f.take(p.Relevance.Ranking(p.floor()))
	p.nameFields(f)
	if !p.budgeted() {
		f.allowance = f.used + int(doc.ExtraShare*float64(p.Doc.Total))
		f.surround()
	}
	if want := limitsOf(len(keep), p.opts).minKept; f.kept < want {
		f.reach(p.Relevance.Ranking(-1), want)
	}
	p.keepPassages(keep)
	p.keepListed(keep)
	p.tidyMatches(keep)
	if p.budgeted() { // in a text of a few lines, even the smallest may exceed the budget
		p.keepOne(keep)
	}
	p.settle(keep, p.bridge)
	return keep
}
