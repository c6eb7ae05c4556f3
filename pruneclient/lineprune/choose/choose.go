// Package choose selects the lines to keep, given their relevance: it keeps protected lines, fills a
// budget, adds the enclosing definitions and headings, and returns the whole text where pruning would not
// pay or would lose the answer.
package choose

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/tuning"
)

// cause is the reason why a line is kept.
type cause uint8

const (
	dropped cause = iota
	relevant
	definition // encloses a kept line
	heading    // names what a kept line belongs to
	named      // the question names it literally
	equal      // the first of the lines that are equal to a kept one
	imported   // an import that the file needs
	between    // in a gap too small for a marker
	guarded    // between NO_PRUNE directives, or a marker of an earlier pruning
	alarm      // a sign of trouble in a log
	ending     // the last lines of a log
	required   // by Options.MinKeepLines or MaxPruneRatio
	wholeText  // nothing was pruned
)

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

// floor returns the score above which a line is kept for its own relevance.
func (p *chooser) floor() float64 {
	switch {
	case !p.budgeted() && p.Kind == doc.Logs:
		return tuning.FreeLogFloor * p.Relevance.Best()
	case !p.budgeted() && p.Data.Nested():
		return tuning.RecordFloor * p.Relevance.Best()
	case !p.budgeted():
		return tuning.FreeFloor * p.Relevance.Best()
	case p.Kind == doc.Logs:
		return tuning.LogFloor * p.Relevance.Best()
	}
	return 0
}

// fill keeps lines while they fit into an allowance of tokens.
type fill struct {
	p         *chooser
	keep      []cause
	atoms     []span // per line, the range that is kept or dropped together with it
	used      int    // tokens kept
	kept      int    // lines kept
	allowance int    // tokens that may be kept
}

// span is a range of lines, end excluded. The zero span stands for the line itself.
type span struct{ start, end int32 }

func (p *chooser) newFill(keep []cause) *fill {
	share := tuning.FreeShare
	switch {
	case p.budgeted():
		share = p.opts.Budget
	case p.Kind == doc.Logs:
		share = tuning.FreeLogShare
	}
	if p.brings == nil {
		p.brings = p.companyOf()
	}
	f := &fill{p: p, keep: keep, allowance: int(share * float64(p.Doc.Total)), atoms: p.atoms()}
	for i, c := range keep {
		if c != dropped {
			f.used += int(p.Doc.Tokens[i])
			f.kept++
		}
	}
	return f
}

// take keeps lines in order as they fit, then each single blank line between two kept lines. A blank line
// has no value of its own.
func (f *fill) take(order []int) {
	for _, i := range order {
		if !f.p.Doc.Blank(i) {
			f.add(i, relevant)
		}
	}
	for i := 1; i+1 < len(f.keep); i++ {
		if f.p.Doc.Blank(i) && f.keep[i-1] != dropped && f.keep[i+1] != dropped {
			f.add(i, between)
		}
	}
}

// add keeps line i and the rest of its atom if they fit. It reports whether the line is kept.
func (f *fill) add(i int, why cause) bool {
	if f.keep[i] != dropped {
		return true
	}
	at := f.atomOf(i)
	if f.used+f.missing(at) > f.allowance {
		return false
	}
	f.force(at, why)
	return true
}

func (f *fill) atomOf(i int) span {
	if f.atoms != nil && f.atoms[i].end > 0 {
		return f.atoms[i]
	}
	return span{int32(i), int32(i + 1)}
}

func (f *fill) force(at span, why cause) {
	for k := at.start; k < at.end; k++ {
		f.p.brings.each(f.keep, int(k), func(line int, why cause) bool {
			f.one(line, why)
			return true
		})
	}
	for k := at.start; k < at.end; k++ {
		if f.keep[k] == dropped {
			f.one(int(k), why)
		}
	}
}

// one keeps line i.
func (f *fill) one(i int, why cause) {
	f.keep[i] = why
	f.used += int(f.p.Doc.Tokens[i])
	f.kept++
}

// surround keeps the definitions and headings that enclose kept lines, then the imports.
func (f *fill) surround() {
	f.enclose()
	f.imports()
}

// enclose keeps the definitions and headings that enclose kept lines.
func (f *fill) enclose() {
	units := f.p.Outline.Units
	for i, u := range f.p.Outline.Of {
		if f.keep[i] == dropped {
			continue
		}
		for ; u >= 0; u = int32(units[u].Parent) {
			if head := units[u].Head; head >= 0 && f.p.Kind != doc.Logs {
				f.add(head, definition)
			}
		}
	}
}

// imports keeps the imports of code.
func (f *fill) imports() {
	if f.p.Kind != doc.Code {
		return
	}
	for i, line := range f.p.Doc.Lines {
		if structure.IsImport(line) && !f.add(i, imported) {
			return
		}
	}
}

// reach keeps further lines in order until at least want are kept, whatever the allowance.
func (f *fill) reach(order []int, want int) {
	for _, i := range order {
		if f.kept >= want {
			return
		}
		if f.keep[i] == dropped {
			f.force(f.atomOf(i), required)
		}
	}
}

// bridge keeps the gaps that are not worth their marker.
func (p *chooser) bridge(keep []cause) {
	for i := 0; i < len(keep); i++ {
		if keep[i] != dropped {
			continue
		}
		start, tokens, size := i, 0, 0
		for ; i < len(keep) && keep[i] == dropped; i++ {
			tokens += int(p.Doc.Tokens[i])
			size += p.Doc.Size(i) + 1
		}
		small := !p.budgeted() && p.Kind != doc.Grep && tokens < tuning.Bridged
		if small || p.opts.Marker != nil && len(p.opts.Marker(p.block(start, i)))+1 >= size {
			for j := start; j < i; j++ {
				keep[j] = between
			}
		}
	}
}
