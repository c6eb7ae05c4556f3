package lineprune

import "slices"

// chooseLines keeps the relevant lines, or the whole text if one of the gates requires it.
func chooseLines(in input) Result {
	switch {
	case in.wantsOutline():
		in = in.outlined()
	case in.budgeted() && in.Relevance.Best() <= 0:
		in = in.introduced()
	}
	keep, warnings := in.decide()
	if slices.Contains(warnings, NoGain) {
		in = in.thinned()
		keep, warnings = in.decide()
	}
	res := in.resultOf(keep, warnings)
	if in.opts.Explain {
		res.Lines, res.Terms = in.explain(keep), termsOf(in.Text)
	}
	return res
}

// decide returns the reason for keeping each line, and the warnings.
func (in input) decide() (keep []cause, warnings []string) {
	warnings, whole := in.judge()
	if !whole {
		keep = in.choose()
		why := in.objection(keep)
		if why == "" {
			return keep, warnings
		}
		warnings = appendOnce(warnings, why)
	}
	return everything(len(in.Doc.Lines)), warnings
}

// choose keeps the protected lines, then the best lines, then the definitions and imports they need, then
// as many more as the limits require.
func (in input) choose() []cause {
	s := in.selection()
	s.keepNamed()
	s.take(in.Relevance.Ranking(in.floor()))
	s.nameFields()
	if !in.budgeted() {
		s.surround()
	}
	if want := in.opts.minKept(len(s.keep)); s.kept < want {
		s.reach(in.Relevance.Ranking(-1), want)
	}
	s.complete(in.bridged())
	return s.keep
}

// complete keeps what belongs to the kept lines, and the gaps of fewer tokens than least.
func (s *selection) complete(least int) {
	s.keepPassages()
	s.keepListed()
	s.tidyMatches()
	if s.budgeted() { // in a text of a few lines, even the smallest may exceed the budget
		s.keepOne()
	}
	s.settle(least)
}

// chooseInOrder keeps lines in the given order (0 is the first line) until the limits are reached, and at least
// one line. As in Lines, protected lines stay and fenced blocks and log entries are kept whole or not at
// all; enclosing definitions, headings, imports and an outline are added up to small fractions of the
// tokens. With a Marker, gaps no longer than their marker are kept.
func chooseInOrder(in input, order []int) Result {
	s := in.selection()
	s.reach(order, max(in.opts.minKept(len(s.keep)), 1))
	s.keepOne()
	s.outline()
	s.settle(0)
	return in.resultOf(s.keep, nil)
}
