package choose

import (
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/rank"
)

// chooser holds the state of one choice.
type chooser struct {
	*rank.Text
	rank.Relevance
	opts Options

	statements []uint64 // per line, the statement that printed it, for a log dominated by one; nil: compare templates instead

	confidence float64
	brings     *company // nil until a line is to be kept
}

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

func (p *chooser) budgeted() bool { return p.opts.Budget > 0 }

// resultOf returns the result of a choice. Every choice passes here: one that left nothing to read is
// replaced by the whole text, because a reader who gets no line cannot tell what was there.
func (p *chooser) resultOf(keep []cause, warnings []string) Result {
	if p.leavesNothing(keep) {
		keepAll(keep)
		warnings = appendOnce(warnings, LowConfidence)
	}
	res := Result{Kind: p.Kind, Total: len(keep), Confidence: p.confidence, Warnings: warnings, Scores: p.Relevance.Score}
	p.set(&res, keep)
	res.Note = p.note(res, warnings)
	return res
}

// leavesNothing reports whether a text has lines and the choice keeps none, or only blank ones, headings and notices of a
// text that has others.
func (p *chooser) leavesNothing(keep []cause) bool {
	kept, visible := false, false
	for i, c := range keep {
		says := p.Doc.Says(i)
		if c != dropped && says {
			return false
		}
		kept, visible = kept || c != dropped, visible || says
	}
	return visible || len(keep) > 0 && !kept
}

// keepOne keeps the best line if the limits left nothing to read. It runs before gaps are bridged, so that
// the result still is no longer than the text.
func (p *chooser) keepOne(keep []cause) {
	if !p.leavesNothing(keep) {
		return
	}
	best := -1
	for i, score := range p.Relevance.Score {
		if p.Doc.Says(i) && (best < 0 || score > p.Relevance.Score[best]) {
			best = i
		}
	}
	keep[max(best, 0)] = required // 0: all lines are blank
}

func keepAll(keep []cause) {
	for i := range keep {
		keep[i] = wholeText
	}
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
