package lineprune

import (
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/rank"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// resultOf returns the result of a choice. Every choice passes here: one that left nothing to read is
// replaced by the whole text, because a reader who gets no line cannot tell what was there.
func (in input) resultOf(keep []cause, warnings []string) Result {
	if leavesNothing(in.Doc, keep) {
		keep, warnings = everything(len(keep)), appendOnce(warnings, LowConfidence)
	}
	res := Result{Kind: in.Kind, Total: len(keep), Confidence: in.confidence, Warnings: warnings, Scores: in.Relevance.Score}
	res.set(in.Text, keep)
	if !res.Whole() {
		res.Openings = openingsOf(in.Text, res.Scores)
		for i := range res.Blocks {
			describe(in.Doc, &res.Blocks[i], res.Openings)
		}
	}
	res.Note = in.note(res, warnings)
	return res
}

// leavesNothing reports whether a text has lines and the choice keeps none, or only blank ones, headings and notices of a
// text that has others.
func leavesNothing(d *doc.Document, keep []cause) bool {
	kept, visible := false, false
	for i, c := range keep {
		says := d.Says(i)
		if c != dropped && says {
			return false
		}
		kept, visible = kept || c != dropped, visible || says
	}
	return visible || len(keep) > 0 && !kept
}

// set fills Kept and Blocks.
func (res *Result) set(t *rank.Text, keep []cause) {
	for i := 0; i < len(keep); i++ {
		if keep[i] != dropped {
			res.Kept = append(res.Kept, i+1)
			continue
		}
		start := i
		for i+1 < len(keep) && keep[i+1] == dropped {
			i++
		}
		res.Blocks = append(res.Blocks, blockOf(t, start, i+1))
	}
}

const offFocus = "hors focus"

// blockOf describes the omitted lines start..end-1.
func blockOf(t *rank.Text, start, end int) Block {
	b := Block{Start: start + 1, End: end, Reason: offFocus}
	if t.Data == nil {
		return b
	}
	b.Records = t.Data.Records(start, end)
	b.SetReason(offFocus)
	switch t.Data.Form {
	case structure.YAML:
		b.Place = Comment
	case structure.JSON:
		part := t.Data.Around(start, end)
		if part == nil {
			break
		}
		if b.Place = Member; part.Array {
			b.Place = Element
		}
		next := strings.TrimLeft(t.Doc.Next(end-1), " \t")
		b.Last = strings.HasPrefix(next, "]") || strings.HasPrefix(next, "}")
	}
	return b
}
