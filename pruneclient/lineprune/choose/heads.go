package choose

import (
	"slices"

	"mcp-pruner/pruneclient/lineprune/doc"
	"mcp-pruner/pruneclient/lineprune/learned"
)

// headOf returns the line number of the heading of line i, or -1.
func (p *chooser) headOf(i int) int {
	if p.Heads == nil {
		return -1
	}
	return int(p.Heads[i])
}

// missingHeads returns the headings of the lines of a range that are not kept yet, each once.
func (f *fill) missingHeads(at span) []int {
	if f.p.Heads == nil {
		return nil
	}
	var heads []int
	for k := int(at.start); k < int(at.end); k++ {
		for h := f.p.headOf(k); h >= 0 && f.keep[h] == dropped; h = f.p.headOf(h) {
			if h < int(at.start) && !slices.Contains(heads, h) {
				heads = append(heads, h)
			}
		}
	}
	return heads
}

// keepHeads keeps the heading of every kept line, and the heading of that heading. It reports whether it kept any.
func (p *chooser) keepHeads(keep []cause) bool {
	any := false
	if p.Heads == nil {
		return any
	}
	for i, c := range keep {
		if c == dropped || p.Doc.Blank(i) {
			continue
		}
		for h := p.headOf(i); h >= 0 && keep[h] == dropped; h = p.headOf(h) {
			keep[h], any = heading, true
		}
	}
	return any
}

// within returns the best ranges that fit into the budget together with their headings.
func (p *chooser) within(plan *learned.Plan, keep []cause) []bool {
	budget := int(p.opts.Budget * float64(p.Doc.Total))
	allowance := budget
	for {
		chosen := plan.Within(allowance)
		over := p.tokensWithHeads(chosen, keep) - budget
		if over <= 0 || allowance <= 0 {
			return chosen
		}
		allowance = max(allowance-max(over, budget/budgetSteps+1), 0)
	}
}

// budgetSteps bounds how often a budget is tried that leaves more room for headings.
const budgetSteps = 20

// tokensWithHeads returns the tokens of the kept and the chosen lines and of the headings that they bring.
func (p *chooser) tokensWithHeads(chosen []bool, keep []cause) int {
	if p.Heads == nil {
		return 0
	}
	all := slices.Clone(keep)
	for i, yes := range chosen {
		if yes && all[i] == dropped {
			all[i] = relevant
		}
	}
	p.keepHeads(all)
	sum := 0
	for i, c := range all {
		if c != dropped {
			sum += int(p.Doc.Tokens[i])
		}
	}
	return sum
}

// tidyMatches drops from a list of matches the headings without a kept match and the separators that no longer separate
// anything, and keeps the lines that the search put before and after its matches.
func (p *chooser) tidyMatches(keep []cause) {
	if p.Kind != doc.Grep || p.Doc.Heads == nil || limitsOf(len(keep), p.opts).minKept > 0 {
		return
	}
	below := make([]bool, len(keep)) // per heading, whether one of its matches is kept
	for i, c := range keep {
		if h := p.headOf(i); h >= 0 && c != dropped && !p.Doc.Separates(i) {
			below[h] = true
		}
	}
	for i := range keep {
		switch {
		case keep[i] == guarded:
		case p.Doc.Notice(i):
			keep[i] = ending
		case p.Doc.Names(i) && !below[i]:
			keep[i] = dropped
		}
	}
	p.separate(keep)
}

// separate keeps the last separator above a heading and between groups of matches, and no other.
func (p *chooser) separate(keep []cause) {
	last, open := -1, false // open: a match is kept above
	for i := range keep {
		switch {
		case p.Doc.Separates(i) && keep[i] != guarded:
			keep[i] = dropped
			last = i
		case keep[i] != dropped:
			if open && last >= 0 && (p.Doc.Names(i) || !p.Doc.Blank(last)) {
				keep[last] = between
			}
			last, open = -1, open || !p.Doc.Notice(i)
		}
	}
}

// settle keeps the gaps that are not worth their marker, and the headings of all kept lines.
func (p *chooser) settle(keep []cause, bridge func([]cause)) {
	for range settleRounds {
		bridge(keep)
		if !p.keepHeads(keep) {
			return
		}
	}
}

// settleRounds bounds the passes over a text in which headings and gaps call for each other.
const settleRounds = 8
