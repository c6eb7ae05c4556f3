package lineprune

import "github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"

// tidyMatches drops from a list of matches the headings without a kept match and the separators that no longer separate
// anything, and keeps the lines that the search put before and after its matches.
func (s *selection) tidyMatches() {
	if s.Kind != doc.Grep || s.Doc.Heads == nil || s.opts.minKept(len(s.keep)) > 0 {
		return
	}
	below := make([]bool, len(s.keep)) // per heading, whether one of its matches is kept
	for i, c := range s.keep {
		if h := s.Heads[i]; h >= 0 && c != dropped && !s.Doc.Separates(i) {
			below[h] = true
		}
	}
	for i := range s.keep {
		switch {
		case s.keep[i] == guarded:
		case s.Doc.Notice(i):
			s.keep[i] = ending
		case s.Doc.Names(i) && !below[i]:
			s.keep[i] = dropped
		}
	}
	s.separate()
}

// separate keeps the last separator above a heading and between groups of matches, and no other.
func (s *selection) separate() {
	last, open := -1, false // open: a match is kept above
	for i := range s.keep {
		switch {
		case s.Doc.Separates(i) && s.keep[i] != guarded:
			s.keep[i] = dropped
			last = i
		case s.keep[i] != dropped:
			if open && last >= 0 && (s.Doc.Names(i) || !s.Doc.Blank(last)) {
				s.keep[last] = between
			}
			last, open = -1, open || !s.Doc.Notice(i)
		}
	}
}
