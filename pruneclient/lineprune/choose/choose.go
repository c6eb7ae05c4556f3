// Package choose selects the lines to keep, given their relevance: it protects, fills a budget,
// adds what kept lines need around them, and brings the text back whole where that is better.
package choose

import (
	"mcp-pruner/pruneclient/lineprune/doc"
	"mcp-pruner/pruneclient/lineprune/render"
	"mcp-pruner/pruneclient/lineprune/structure"
	"mcp-pruner/pruneclient/lineprune/tuning"
)

// cause is why a line is kept.
type cause uint8

const (
	dropped cause = iota
	relevant
	definition // encloses a kept line
	imported   // names what the file needs
	between    // a gap too small for a marker
	guarded    // between NO_PRUNE directives, or a marker
	alarm      // a sign of trouble in a log
	ending     // the last lines of a log
	required   // by the limits
	wholeText  // nothing was pruned
)

// choose keeps what is protected, then the best lines, then what they need around
// them, then what the limits ask for.
func (p *chooser) choose() []cause {
	keep := p.protect()
	f := p.newFill(keep)
	p.keepHeader(f)
	f.take(p.Relevance.Ranking(p.floor()))
	if !p.budgeted() {
		f.allowance = f.used + int(tuning.ExtraShare*float64(p.Doc.Total))
		f.surround()
	}
	want := limitsOf(len(keep), p.opts).minKept
	if p.budgeted() { // a text of a few lines may have none that fits
		want = max(want, 1)
	}
	if f.kept < want {
		f.reach(p.Relevance.Ranking(-1), want)
	}
	p.bridge(keep)
	return keep
}

// keepHeader keeps a table's first line, which says what the columns are.
func (p *chooser) keepHeader(f *fill) {
	if p.Shape != structure.Table || structure.IsRecord(p.Doc.Lines[0]) {
		return
	}
	for i := range p.Doc.Lines {
		if !p.Doc.Blank(i) {
			f.add(i, definition)
			return
		}
	}
}

// floor is the score a line has to pass to be kept for itself.
func (p *chooser) floor() float64 {
	switch {
	case !p.budgeted() && p.Kind == doc.Logs:
		return tuning.FreeLogFloor * p.Relevance.Best()
	case !p.budgeted():
		return tuning.FreeFloor * p.Relevance.Best()
	case p.Kind == doc.Logs:
		return tuning.LogFloor * p.Relevance.Best()
	}
	return 0
}

// fill keeps lines while they fit.
type fill struct {
	p         *chooser
	keep      []cause
	atoms     []span // per line, what is kept with it or not at all
	used      int    // tokens kept
	kept      int    // lines kept
	allowance int    // tokens
}

// span is a range of lines, the end excluded; the zero span stands for the line
// itself.
type span struct{ start, end int32 }

func (p *chooser) newFill(keep []cause) *fill {
	share := tuning.FreeShare
	switch {
	case p.budgeted():
		share = p.opts.Budget
	case p.Kind == doc.Logs:
		share = tuning.FreeLogShare
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

// take keeps lines in order, then the blank lines between two of them: a blank line
// is worth nothing by itself.
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

// add keeps line i, and all that goes with it, if it fits.
func (f *fill) add(i int, why cause) bool {
	if f.keep[i] != dropped {
		return true
	}
	at := f.atomOf(i)
	need := 0
	for k := at.start; k < at.end; k++ {
		if f.keep[k] == dropped {
			need += int(f.p.Doc.Tokens[k])
		}
	}
	if f.used+need > f.allowance {
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
		if f.keep[k] == dropped {
			f.keep[k] = why
			f.used += int(f.p.Doc.Tokens[k])
			f.kept++
		}
	}
}

// surround keeps the definitions and headings around kept lines, then the imports.
func (f *fill) surround() {
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
	if f.p.Kind != doc.Code {
		return
	}
	for i, line := range f.p.Doc.Lines {
		if structure.IsImport(line) && !f.add(i, imported) {
			return
		}
	}
}

// reach keeps further lines, best first, until at least want are kept.
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
		if small || p.opts.Marker != nil && len(p.opts.Marker(render.Block{Start: start + 1, End: i, Reason: offFocus}))+1 >= size {
			for j := start; j < i; j++ {
				keep[j] = between
			}
		}
	}
}
