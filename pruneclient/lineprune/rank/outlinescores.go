package rank

import (
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// OutlineScores returns for each line how well it describes the text as a whole. The beginning, the outer levels
// of the outline and the first sentence of every part score; all other lines are 0.
func OutlineScores(d *doc.Document, shape structure.Shape, o structure.Outline) []float64 {
	score := make([]float64, len(d.Lines))
	raise := func(i int, s float64) {
		if i >= 0 && i < len(score) && !d.Blank(i) {
			score[i] = max(score[i], s)
		}
	}
	for i := range min(doc.OpeningLines, len(d.Lines)) {
		raise(i, doc.OpeningScore-float64(float64(i)*doc.OpeningStep))
	}
	if shape == structure.Table {
		return score
	}
	for _, u := range o.Units {
		s := doc.HeadScore / float64(1+2*depth(o, u))
		raise(u.Head, s)
		if says := firstSaid(d, u); says >= 0 {
			raise(says, s*doc.SaidShare)
		}
	}
	return score
}

// depth returns the number of units that enclose u.
func depth(o structure.Outline, u structure.Unit) int {
	n := 0
	for ; u.Parent >= 0; u = o.Units[u.Parent] {
		n++
	}
	return n
}

// firstSaid returns the line that says what a unit is for: the first line of the comment above it, else the
// first line below its head if that is a docstring, a comment or prose, else -1.
func firstSaid(d *doc.Document, u structure.Unit) int {
	if u.Start < u.Head {
		return u.Start
	}
	for i := u.Head + 1; i < min(u.End, u.Head+4); i++ {
		if d.Blank(i) {
			continue
		}
		t := d.Lines[i][doc.FirstVisible(d.Lines[i]):]
		if structure.IsComment(t) || strings.HasPrefix(t, `"""`) || strings.HasPrefix(t, "'''") ||
			doc.InWord(doc.ByteClass[t[0]]) && strings.Count(t, " ") > 3 && !strings.ContainsAny(t, "=({;") {
			return i
		}
		return -1
	}
	return -1
}
