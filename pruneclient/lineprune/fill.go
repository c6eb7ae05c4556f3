package lineprune

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

func (p *chooser) companyOf() *company {
	c := &company{heads: p.Heads, first: p.firstEqual()}
	if p.Data.Nested() {
		c.data = p.Data
	}
	if p.budgeted() {
		c.tokens = p.Doc.Tokens
	}
	return c
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

func (p *chooser) newFill(keep []cause) *fill {
	share := doc.FreeShare
	switch {
	case p.budgeted():
		share = p.opts.Budget
	case p.Kind == doc.Logs:
		share = doc.FreeLogShare
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

// missing returns the tokens that a range of lines adds to those kept.
func (f *fill) missing(at span) int {
	need := f.p.brings.missing(f.p.Doc, f.keep, at)
	for k := at.start; k < at.end; k++ {
		if f.keep[k] == dropped {
			need += int(f.p.Doc.Tokens[k])
		}
	}
	return need
}

// keepNamed keeps the lines that the question names literally, the rarest names first, up to a small part of the text.
func (f *fill) keepNamed() {
	left := max(doc.NamedTokens, int(doc.NamedPart*float64(f.p.Doc.Total)))
	if f.p.budgeted() {
		left = min(left, f.allowance-f.used)
	}
	for _, i := range f.p.Named {
		at := span{int32(i), int32(i + 1)}
		need := f.missing(at)
		if f.keep[i] != dropped || need > left {
			continue
		}
		left -= need
		f.force(at, named)
	}
}

// nameFields keeps the fields that the question names in the records of kept lines.
func (p *chooser) nameFields(f *fill) {
	if !p.Data.Nested() {
		return
	}
	in := make([]bool, len(p.Data.Parts)) // per record, whether it has a kept line
	for i, c := range f.keep {
		if r := p.recordOf(i); c != dropped && r >= 0 {
			in[r] = true
		}
	}
	for _, h := range p.Matches.Hits {
		if r := p.recordOf(int(h.Line)); r >= 0 && in[r] && h.Weight >= 1 {
			f.add(int(h.Line), relevant)
		}
	}
}

// outline keeps the definitions and headings that enclose the lines of a reranker, then imports and other
// definitions as long as everything it keeps stays within a smaller fraction of the tokens.
func (f *fill) outline() {
	chosen, total := f.used, float64(f.p.Doc.Total)
	f.allowance = chosen + int(doc.ExtraShare*total)
	f.enclose()
	f.allowance = chosen + int(doc.SkeletonShare*total)
	f.imports()
	f.skeleton()
}

// skeleton keeps some definitions that enclose no kept line, outer ones first. Lines chosen by a reranker
// can lie anywhere, and an outline shows where.
func (f *fill) skeleton() {
	if f.p.Kind != doc.Code {
		return
	}
	for _, outer := range []bool{true, false} {
		for _, u := range f.p.Outline.Units {
			if u.Head < 0 || (u.Parent < 0) != outer || f.keep[u.Head] != dropped {
				continue
			}
			if !f.besideKept(u.Head) {
				f.used += doc.MarkerTokens
			}
			if !f.add(u.Head, definition) {
				return
			}
		}
	}
}

func (f *fill) besideKept(i int) bool {
	return i > 0 && f.keep[i-1] != dropped || i+1 < len(f.keep) && f.keep[i+1] != dropped
}
