package lineprune

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// openings returns what begins in the text, with its relevance. Logs and lists of matches have none.
func (p *chooser) openings(scores []float64) []structure.Opening {
	var list []structure.Opening
	switch {
	case p.Kind == doc.Logs, p.Kind == doc.Grep:
		return nil
	case p.structured():
		list = p.Data.Openings(p.Doc, p.Outline)
	case p.Kind == doc.Docs && p.Outline.Headed():
		list = p.Outline.Openings(p.Doc, structure.HeadingText)
	case p.Shape == structure.Keys:
		list = p.Outline.Openings(p.Doc, structure.KeyText)
	case p.Kind == doc.Code:
		list = p.Outline.Openings(p.Doc, structure.Declared)
	}
	for i, o := range list {
		if o.Line <= len(scores) {
			list[i].Score = scores[o.Line-1]
		}
	}
	return list
}

// describe adds to an omitted range what begins in it.
func (p *chooser) describe(b *Block, all []structure.Opening) {
	b.Openings = Within(all, b.Start, b.End)
	for i := b.Start - 1; i < b.End; i++ {
		b.Size += p.Doc.Size(i) + 1
	}
}
