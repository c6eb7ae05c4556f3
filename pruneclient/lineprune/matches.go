package lineprune

import "github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"

// tidyMatches drops from a list of matches the headings without a kept match and the separators that no longer separate
// anything, and keeps the lines that the search put before and after its matches.
func (p *chooser) tidyMatches(keep []cause) {
	if p.Kind != doc.Grep || p.Doc.Heads == nil || limitsOf(len(keep), p.opts).minKept > 0 {
		return
	}
	below := make([]bool, len(keep)) // per heading, whether one of its matches is kept
	for i, c := range keep {
		if h := p.Heads[i]; h >= 0 && c != dropped && !p.Doc.Separates(i) {
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
