package lineprune

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// judge returns the warnings, and whether the text is returned whole before any line is chosen.
func (p *chooser) judge() (warnings []string, whole bool) {
	switch {
	case p.opts.MinKeepLines > len(p.Doc.Lines):
		return []string{ConstraintsUnmet}, true
	case p.patched() != "":
		return []string{p.patched()}, true
	case p.budgeted():
		return p.doubt(), false
	case p.Doc.Total < doc.ShortText:
		return []string{TooShort}, true
	case p.needsAll():
		return []string{NeedsAll}, true
	case p.opts.Whole != "":
		return []string{AskedWhole}, true
	case p.confidence < doc.MinConfidence || p.Relevance.Best() <= 0:
		// Among near-identical lines no answer can be lost, so a ratio that the caller set is applied.
		return []string{LowConfidence}, !(p.opts.LimitRatio && p.alike())
	case p.wanted() > (1-doc.MinGain)*float64(p.Doc.Total): // nearly the whole text is relevant
		return []string{NoGain}, true
	}
	return nil, false
}

// patched returns the warning for a text of which every line counts because it is a patch or has conflicts, or "". Under a
// budget a conflict does not count.
func (p *chooser) patched() string {
	switch {
	case p.opts.Diffs:
	case structure.LooksLikeDiff(p.Doc):
		return IsDiff
	case !p.budgeted() && structure.HasConflict(p.Doc):
		return HasConflict
	}
	return ""
}

// doubt returns a warning where there is little evidence of an answer but a budget requires pruning anyway.
func (p *chooser) doubt() []string {
	if p.confidence < doc.MinConfidence {
		return []string{LowConfidence}
	}
	return nil
}

// wanted returns the number of tokens of the lines that score above the floor.
func (p *chooser) wanted() float64 {
	sum, floor := 0, p.floor()
	for i, s := range p.Relevance.Score {
		if s > floor {
			sum += int(p.Doc.Tokens[i])
		}
	}
	return float64(sum)
}

// objection returns the warning for a choice that is worse than the whole text, or "". Under a budget it is
// always "", because a budget is a hard limit.
func (p *chooser) objection(keep []cause) string {
	switch {
	case p.budgeted():
		return ""
	case !p.keepsBest(keep):
		return LowConfidence
	case !p.gains(keep):
		return NoGain
	}
	return ""
}

// keepsBest reports whether at least one line and the best-scored one are kept. The best line is dropped
// when it alone exceeds the allowance.
func (p *chooser) keepsBest(keep []cause) bool {
	best, kept := 0.0, -1.0
	for i, s := range p.Relevance.Score {
		if p.Doc.Says(i) {
			best = max(best, s)
		}
		if keep[i] != dropped {
			kept = max(kept, s)
		}
	}
	return kept >= best
}

// gains reports whether pruning saves enough tokens after the markers are counted.
func (p *chooser) gains(keep []cause) bool {
	used := 0
	for i, c := range keep {
		switch {
		case c != dropped:
			used += int(p.Doc.Tokens[i])
		case i == 0 || keep[i-1] != dropped:
			used += doc.MarkerTokens
		}
	}
	return float64(used) <= (1-doc.MinGain)*float64(p.Doc.Total)
}
