// Package choose selects the lines to keep, given their relevance: it keeps protected lines, fills a
// budget, adds the enclosing definitions and headings, and returns the whole text where pruning would not
// pay or would lose the answer.
package choose

import "github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/tuning"

// choose keeps the protected lines, then the best lines, then the definitions and imports they need, then
// as many more as the limits require.
func (p *chooser) choose() []cause {
	keep := p.protect()
	f := p.newFill(keep)
	f.keepNamed()
	f.take(p.Relevance.Ranking(p.floor()))
	p.nameFields(f)
	if !p.budgeted() {
		f.allowance = f.used + int(tuning.ExtraShare*float64(p.Doc.Total))
		f.surround()
	}
	if want := limitsOf(len(keep), p.opts).minKept; f.kept < want {
		f.reach(p.Relevance.Ranking(-1), want)
	}
	p.keepPassages(keep)
	p.tidyMatches(keep)
	if p.budgeted() { // in a text of a few lines, even the smallest may exceed the budget
		p.keepOne(keep)
	}
	p.settle(keep, p.bridge)
	return keep
}
