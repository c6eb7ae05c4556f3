package choose

import (
	"mcp-pruner/pruneclient/lineprune/detect"
	"mcp-pruner/pruneclient/lineprune/logs"
	"mcp-pruner/pruneclient/lineprune/tuning"
)

// judge says what to warn of, and whether the text comes back whole before anything
// is chosen.
func (p *chooser) judge() (warnings []string, whole bool) {
	switch {
	case p.opts.MinKeepLines > len(p.Doc.Lines):
		return []string{ConstraintsUnmet}, true
	case detect.LooksLikeDiff(p.Doc) && !p.opts.Diffs:
		return []string{IsDiff}, true
	case p.budgeted():
		return p.doubt(), false
	case p.Doc.Total < tuning.ShortText:
		return []string{TooShort}, true
	case p.needsAll():
		return []string{NeedsAll}, true
	case p.confidence < tuning.MinConfidence || p.Relevance.Best() <= 0:
		// Lines that are all alike cannot hide an answer: a caller that set a
		// ratio gets it.
		return []string{LowConfidence}, !(p.opts.LimitRatio && p.alike())
	case p.wanted() > (1-tuning.MinGain)*float64(p.Doc.Total): // nearly all of it answers
		return []string{NoGain}, true
	}
	return nil, false
}

// doubt warns where little in the text speaks for an answer and a budget prunes it all the
// same.
func (p *chooser) doubt() []string {
	if p.confidence < tuning.MinConfidence {
		return []string{LowConfidence}
	}
	return nil
}

// wanted is the tokens of the lines that would be kept for themselves.
func (p *chooser) wanted() float64 {
	sum, floor := 0, p.floor()
	for i, s := range p.Relevance.Score {
		if s > floor {
			sum += int(p.Doc.Tokens[i])
		}
	}
	return float64(sum)
}

// alike is true of a text whose lines one statement printed.
func (p *chooser) alike() bool {
	count := map[uint64]int{}
	most := 0
	for _, line := range p.Doc.Lines {
		h := logs.Template(line)
		count[h]++
		most = max(most, count[h])
	}
	return most*10 >= len(p.Doc.Lines)*9
}

// objection is the warning of a choice that is worse than the whole text, or "". A budget is
// a hard limit: there is none to a choice within one.
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

// keepsBest says whether a line is kept, and the best one among them: it is not
// where it is too large a part of the text.
func (p *chooser) keepsBest(keep []cause) bool {
	best, kept := 0.0, -1.0
	for i, s := range p.Relevance.Score {
		if !p.Doc.Blank(i) {
			best = max(best, s)
		}
		if keep[i] != dropped {
			kept = max(kept, s)
		}
	}
	return kept >= best
}

// gains says whether what is left out is worth the markers it takes.
func (p *chooser) gains(keep []cause) bool {
	used := 0
	for i, c := range keep {
		switch {
		case c != dropped:
			used += int(p.Doc.Tokens[i])
		case i == 0 || keep[i-1] != dropped:
			used += tuning.MarkerTokens
		}
	}
	return float64(used) <= (1-tuning.MinGain)*float64(p.Doc.Total)
}
