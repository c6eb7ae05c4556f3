package lineprune

import "github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/rank"

// chooseLines keeps the relevant lines, or the whole text if one of the gates requires it.
func chooseLines(t *rank.Text, r rank.Relevance, confidence float64, opts choiceOptions) Result {
	return (&chooser{Text: t, Relevance: r, opts: opts, confidence: confidence}).result()
}

// chooseInOrder keeps lines in the given order (0 is the first line) until the limits are reached, and at least
// one line. As in Lines, protected lines stay and fenced blocks and log entries are kept whole or not at
// all; enclosing definitions, headings, imports and an outline are added up to small fractions of the
// tokens. With a Marker, gaps no longer than their marker are kept.
func chooseInOrder(t *rank.Text, r rank.Relevance, confidence float64, order []int, opts choiceOptions) Result {
	p := &chooser{Text: t, Relevance: r, opts: opts, confidence: confidence}
	keep := p.protect()
	f := p.newFill(keep)
	f.reach(order, max(limitsOf(len(keep), p.opts).minKept, 1))
	p.keepOne(keep)
	f.outline()
	p.settle(keep, p.closeGaps)
	return p.resultOf(keep, nil)
}
