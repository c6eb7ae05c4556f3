package choose

import (
	"mcp-pruner/pruneclient/lineprune/doc"
	"mcp-pruner/pruneclient/lineprune/structure"
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

// bind makes lines start..end-1 one atom, unless the atom alone exceeds the budget.
func (p *chooser) bind(atoms []span, start, end int) {
	if p.budgeted() && float64(p.Doc.TokensOf(start, end)) > p.opts.Budget*float64(p.Doc.Total)/2 {
		return
	}
	for i := start; i < end; i++ {
		atoms[i] = span{int32(start), int32(end)}
	}
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
