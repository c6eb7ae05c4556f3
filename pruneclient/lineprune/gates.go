package lineprune

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// judge returns the warnings, and whether the text is returned whole before any line is chosen.
func (in input) judge() (warnings []string, whole bool) {
	switch {
	case in.opts.MinKeepLines > len(in.Doc.Lines):
		return []string{ConstraintsUnmet}, true
	case in.patched() != "":
		return []string{in.patched()}, true
	case in.budgeted():
		return in.doubt(), false
	case in.Doc.Total < doc.ShortText:
		return []string{TooShort}, true
	case needsAll(in.Text):
		return []string{NeedsAll}, true
	case in.whole != "":
		return []string{AskedWhole}, true
	case in.confidence < doc.MinConfidence || in.Relevance.Best() <= 0:
		// Among near-identical lines no answer can be lost, so a ratio that the caller set is applied.
		return []string{LowConfidence}, !(in.opts.LimitRatio && alike(in.Doc))
	case in.wanted() > (1-doc.MinGain)*float64(in.Doc.Total): // nearly the whole text is relevant
		return []string{NoGain}, true
	}
	return nil, false
}

// patched returns the warning for a text of which every line counts because it is a patch or has conflicts, or "". Under a
// budget a conflict does not count.
func (in input) patched() string {
	switch {
	case in.opts.Diffs:
	case structure.LooksLikeDiff(in.Doc):
		return IsDiff
	case !in.budgeted() && structure.HasConflict(in.Doc):
		return HasConflict
	}
	return ""
}

// doubt returns a warning where there is little evidence of an answer but a budget requires pruning anyway.
func (in input) doubt() []string {
	if in.confidence < doc.MinConfidence {
		return []string{LowConfidence}
	}
	return nil
}

// wanted returns the number of tokens of the lines that score above the floor.
func (in input) wanted() float64 {
	sum, floor := 0, in.floor()
	for i, s := range in.Relevance.Score {
		if s > floor {
			sum += int(in.Doc.Tokens[i])
		}
	}
	return float64(sum)
}

// objection returns the warning for a choice that is worse than the whole text, or "". Under a budget it is
// always "", because a budget is a hard limit.
func (in input) objection(keep []cause) string {
	switch {
	case in.budgeted():
		return ""
	case !in.keepsBest(keep):
		return LowConfidence
	case !in.gains(keep):
		return NoGain
	}
	return ""
}

// keepsBest reports whether at least one line and the best-scored one are kept. The best line is dropped
// when it alone exceeds the allowance.
func (in input) keepsBest(keep []cause) bool {
	best, kept := 0.0, -1.0
	for i, s := range in.Relevance.Score {
		if in.Doc.Says(i) {
			best = max(best, s)
		}
		if keep[i] != dropped {
			kept = max(kept, s)
		}
	}
	return kept >= best
}

// gains reports whether pruning saves enough tokens after the markers are counted.
func (in input) gains(keep []cause) bool {
	used := 0
	for i, c := range keep {
		switch {
		case c != dropped:
			used += int(in.Doc.Tokens[i])
		case i == 0 || keep[i-1] != dropped:
			used += doc.MarkerTokens
		}
	}
	return float64(used) <= (1-doc.MinGain)*float64(in.Doc.Total)
}
