package lineprune

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// atoms returns the ranges that are kept whole or not at all, one per line: a page's fenced blocks and a
// log's entries with a sign of trouble, and the records of structured data. It is nil when the text has none.
func (in input) atoms() []span {
	if in.Data.Nested() {
		return in.records()
	}
	switch in.Kind {
	case doc.Docs:
		return in.fences()
	case doc.Logs:
		return in.troubledEntries()
	}
	return nil
}

// fences returns the fenced blocks. A block larger than the whole allowance is chosen line by line.
func (in input) fences() []span {
	atoms := make([]span, len(in.Doc.Lines))
	in.bindItems(atoms)
	fence, start := "", 0
	for i, line := range in.Doc.Lines {
		next := structure.FenceAfter(fence, line)
		switch {
		case fence == "" && next != "":
			start = i
		case fence != "" && next == "":
			in.bind(atoms, start, i+1)
		}
		fence = next
	}
	return atoms
}

// bindItems binds an item of a list to the few items within it, as a row of a web page's tree to its cells and buttons.
func (in input) bindItems(atoms []span) {
	items := structure.SmallItems(in.Doc, doc.ItemLines)
	for _, at := range items {
		in.bind(atoms, at[0], at[1])
	}
}

// bind makes lines start..end-1 one atom, unless the atom alone exceeds what may be kept.
func (in input) bind(atoms []span, start, end int) {
	if float64(in.Doc.TokensOf(start, end)) > in.largestAtom()*float64(in.Doc.Total) {
		return
	}
	for i := start; i < end; i++ {
		atoms[i] = span{int32(start), int32(end)}
	}
}

// largestAtom returns the share of the text's tokens that one atom may have.
func (in input) largestAtom() float64 {
	switch {
	case in.budgeted():
		return in.opts.Budget / 2
	case in.Kind == doc.Docs:
		return doc.FreeShare
	}
	return 1
}

func (in input) troubledEntries() []span {
	atoms := make([]span, len(in.Doc.Lines))
	if in.budgeted() {
		return atoms
	}
	for u, unit := range in.Outline.Units {
		if in.Relevance.Alarmed[u] {
			in.bind(atoms, unit.Start, unit.End)
		}
	}
	return atoms
}

// records returns the records that are kept whole or not at all, one per line.
func (in input) records() []span {
	atoms := make([]span, len(in.Doc.Lines))
	for _, part := range in.Data.Parts {
		if part.Record && in.Doc.TokensOf(part.Start, part.End) <= doc.WholeRecord {
			in.bind(atoms, part.Start, part.End)
		}
	}
	return atoms
}

func recordOf(data *structure.Data, i int) int32 {
	part := data.Of[i]
	for part >= 0 && !data.Parts[part].Record {
		part = data.Parts[part].Parent
	}
	return part
}
