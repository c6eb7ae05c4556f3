package lineprune

// Gates of a text that is pruned without a budget.
const (
	shortText     = 300  // tokens; below, a text is cheaper whole than asked for twice
	minConfidence = 0.5  // most questions without an answer stay below, and three of ten with one
	freeShare     = 0.5  // largest share of the tokens kept
	freeLogShare  = 0.75 // of a log: a short one can be mostly its failure
	freeFloor     = 0.38 // of the best line's score
	logFloor      = 0.2  // of the best line's score, for a log with a budget: routine is no answer
	bridged       = 48   // tokens; a smaller gap is not worth its marker
	extraShare    = 0.08 // of the tokens, for definitions and imports around what is kept
	minGain       = 0.12 // share of the tokens that has to be saved, markers counted
	markerTokens  = 16   // about what one marker costs
)

// judge says what to warn of, and whether the text comes back whole before anything
// is chosen.
func (p *pruning) judge() (warnings []string, whole bool) {
	switch {
	case p.opts.MinKeepLines > len(p.d.lines):
		return []string{ConstraintsUnmet}, true
	case looksLikeDiff(p.d):
		return []string{IsDiff}, true
	case p.budgeted():
		return nil, false
	case p.d.total < shortText:
		return []string{TooShort}, true
	case p.confidence < minConfidence || p.relevance.best() <= 0:
		// Lines that are all alike cannot hide an answer: a caller that set a
		// ratio gets it.
		return []string{LowConfidence}, !(p.opts.LimitRatio && p.alike())
	case p.wanted() > (1-minGain)*float64(p.d.total): // nearly all of it answers
		return []string{NoGain}, true
	}
	return nil, false
}

// wanted is the tokens of the lines that would be kept for themselves.
func (p *pruning) wanted() float64 {
	sum, floor := 0, p.floor()
	for i, s := range p.relevance.score {
		if s > floor {
			sum += int(p.d.tokens[i])
		}
	}
	return float64(sum)
}

// alike is true of a text whose lines one statement printed.
func (p *pruning) alike() bool {
	count := map[uint64]int{}
	most := 0
	for _, line := range p.d.lines {
		h := template(line)
		count[h]++
		most = max(most, count[h])
	}
	return most*10 >= len(p.d.lines)*9
}

// regret is the warning of a choice that is worse than the whole text, or "". Who
// sets a budget gets what fits in it.
func (p *pruning) regret(keep []cause) string {
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
func (p *pruning) keepsBest(keep []cause) bool {
	best, kept := 0.0, -1.0
	for i, s := range p.relevance.score {
		if !p.d.blank(i) {
			best = max(best, s)
		}
		if keep[i] != dropped {
			kept = max(kept, s)
		}
	}
	return kept >= best
}

// gains says whether what is left out is worth the markers it takes.
func (p *pruning) gains(keep []cause) bool {
	used := 0
	for i, c := range keep {
		switch {
		case c != dropped:
			used += int(p.d.tokens[i])
		case i == 0 || keep[i-1] != dropped:
			used += markerTokens
		}
	}
	return float64(used) <= (1-minGain)*float64(p.d.total)
}
