package choose

import (
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/render"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/tuning"
)

// records returns the records that are kept whole or not at all, one per line.
func (p *chooser) records() []span {
	atoms := make([]span, len(p.Doc.Lines))
	for _, part := range p.Data.Parts {
		if part.Record && p.Doc.TokensOf(part.Start, part.End) <= tuning.WholeRecord {
			p.bind(atoms, part.Start, part.End)
		}
	}
	return atoms
}

// eachPart calls visit for the lines that hold the parts of structured data together which contain line i, and that are
// not kept.
func (c *company) eachPart(keep []cause, i int, visit func(line int, why cause) bool) {
	if c.data == nil {
		return
	}
	for part := c.data.Of[i]; part >= 0; part = c.data.Parts[part].Parent {
		for _, line := range c.data.Parts[part].Stays {
			if keep[line] == dropped && line != i {
				visit(line, heading)
			}
		}
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

// structured reports whether the text consists of records.
func (p *chooser) structured() bool { return p.Data.Nested() || p.Data.IsTable() }

// recordOf returns the record that contains line i, or -1.
func (p *chooser) recordOf(i int) int32 {
	part := p.Data.Of[i]
	for part >= 0 && !p.Data.Parts[part].Record {
		part = p.Data.Parts[part].Parent
	}
	return part
}

const offFocus = "hors focus"

// block describes the omitted lines start..end-1.
func (p *chooser) block(start, end int) render.Block {
	b := render.Block{Start: start + 1, End: end, Reason: offFocus}
	if p.Data == nil {
		return b
	}
	b.Records = p.Data.Records(start, end)
	b.SetReason(offFocus)
	switch p.Data.Form {
	case structure.YAML:
		b.Place = render.Comment
	case structure.JSON:
		part := p.Data.Around(start, end)
		if part == nil {
			break
		}
		if b.Place = render.Member; part.Array {
			b.Place = render.Element
		}
		next := strings.TrimLeft(p.Doc.Next(end-1), " \t")
		b.Last = strings.HasPrefix(next, "]") || strings.HasPrefix(next, "}")
	}
	return b
}
