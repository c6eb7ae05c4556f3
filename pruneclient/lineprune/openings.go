package lineprune

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/rank"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// openings returns what begins in the text, with its relevance. Logs and lists of matches have none.
func openingsOf(t *rank.Text, scores []float64) []structure.Opening {
	var list []structure.Opening
	switch {
	case t.Kind == doc.Logs, t.Kind == doc.Grep:
		return nil
	case structured(t):
		list = t.Data.Openings(t.Doc, t.Outline)
	case t.Kind == doc.Docs && t.Outline.Headed():
		list = t.Outline.Openings(t.Doc, structure.HeadingText)
	case t.Shape == structure.Keys:
		list = t.Outline.Openings(t.Doc, structure.KeyText)
	case t.Kind == doc.Code:
		list = t.Outline.Openings(t.Doc, structure.Declared)
	}
	for i, o := range list {
		if o.Line <= len(scores) {
			list[i].Score = scores[o.Line-1]
		}
	}
	return list
}

// describe adds to an omitted range what begins in it.
func describe(d *doc.Document, b *Block, all []structure.Opening) {
	b.Openings = Within(all, b.Start, b.End)
	for i := b.Start - 1; i < b.End; i++ {
		b.Size += d.Size(i) + 1
	}
}
