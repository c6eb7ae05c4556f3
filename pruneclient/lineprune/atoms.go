package lineprune

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// atoms returns the ranges that are kept whole or not at all, one per line: a page's fenced blocks and a
// log's entries with a sign of trouble, and the records of structured data. It is nil when the text has none.
func (p *chooser) atoms() []span {
	if p.Data.Nested() {
		return p.records()
	}
	switch p.Kind {
	case doc.Docs:
		return p.fences()
	case doc.Logs:
		return p.troubledEntries()
	}
	return nil
}

// fences returns the fenced blocks. A block larger than the whole allowance is chosen line by line.
func (p *chooser) fences() []span {
	atoms := make([]span, len(p.Doc.Lines))
	p.bindItems(atoms)
	fence, start := "", 0
	for i, line := range p.Doc.Lines {
		next := structure.FenceAfter(fence, line)
		switch {
		case fence == "" && next != "":
			start = i
		case fence != "" && next == "":
			p.bind(atoms, start, i+1)
		}
		fence = next
	}
	return atoms
}

// bindItems binds an item of a list to the few items within it, as a row of a web page's tree to its cells and buttons.
func (p *chooser) bindItems(atoms []span) {
	items := structure.SmallItems(p.Doc, doc.ItemLines)
	for _, at := range items {
		p.bind(atoms, at[0], at[1])
	}
}

// bind makes lines start..end-1 one atom, unless the atom alone exceeds what may be kept.
func (p *chooser) bind(atoms []span, start, end int) {
	if float64(p.Doc.TokensOf(start, end)) > p.largestAtom()*float64(p.Doc.Total) {
		return
	}
	for i := start; i < end; i++ {
		atoms[i] = span{int32(start), int32(end)}
	}
}

// largestAtom returns the share of the text's tokens that one atom may have.
func (p *chooser) largestAtom() float64 {
	switch {
	case p.budgeted():
		return p.opts.Budget / 2
	case p.Kind == doc.Docs:
		return doc.FreeShare
	}
	return 1
}

func (p *chooser) troubledEntries() []span {
	atoms := make([]span, len(p.Doc.Lines))
	if p.budgeted() {
		return atoms
	}
	for u, unit := range p.Outline.Units {
		if p.Relevance.Alarmed[u] {
			p.bind(atoms, unit.Start, unit.End)
		}
	}
	return atoms
}

// records returns the records that are kept whole or not at all, one per line.
func (p *chooser) records() []span {
	atoms := make([]span, len(p.Doc.Lines))
	for _, part := range p.Data.Parts {
		if part.Record && p.Doc.TokensOf(part.Start, part.End) <= doc.WholeRecord {
			p.bind(atoms, part.Start, part.End)
		}
	}
	return atoms
}

// recordOf returns the record that contains line i, or -1.
func (p *chooser) recordOf(i int) int32 {
	part := p.Data.Of[i]
	for part >= 0 && !p.Data.Parts[part].Record {
		part = p.Data.Parts[part].Parent
	}
	return part
}
