// Package rank parses a question, finds its terms in a text, scores the text's lines by their relevance to it
// and estimates whether the text answers it at all. It recognises questions that no single passage answers:
// they ask for an overview, a number, a maximum or minimum, all items, or a judgement.
package rank

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// Text is a text after the earlier steps: split into lines, matched against the question, grouped into
// units.
type Text struct {
	Doc      *doc.Document
	Kind     doc.Kind
	Outline  structure.Outline
	Heads    []int32 // per line, the line number of its heading, or -1; nil if the text has no headings
	Named    []int   // lines that the question names literally, the most telling first
	Listing  bool    // a list or the output of a command, in which equal lines mean the same
	Shape    structure.Shape
	Data     *structure.Data // the records of structured data; nil if the text is something else
	Want     answerKind
	Question *Question
	Matches  matches
}

// Relevance is the result of scoring: a score per line, and values from which Confidence is computed.
type Relevance struct {
	Score  []float64
	rarity []float64 // per group of the question: its rarity in this text times its weight
	found  float64   // bits of the question that occur together at the best place

	// For logs only.
	Signal   []float64 // per line, how much it looks like trouble, 0..1
	entry    []float64 // per entry, the largest signal of its lines, reduced where it is common in the log
	Alarmed  []bool    // per entry, whether one of its lines has a signal of at least AlarmSignal
	Failing  [][2]int  // the lines of each failing test from its name to its first place, end excluded
	troubled bool      // something went wrong
	passed   bool      // a line reports success
}

// Score ranks the lines of a matched document. Every product is converted to float64 before it is added,
// which rounds it. Otherwise some processors would fuse multiplication and addition, and the last digits
// would depend on the machine.
func Score(ctx context.Context, t *Text) (Relevance, error) {
	d, q, m, o, kind := t.Doc, t.Question, t.Matches, t.Outline, t.Kind
	r := Relevance{Score: make([]float64, len(d.Lines)), rarity: make([]float64, len(q.Groups))}
	r.weigh(d, q, m.Hits)
	r.near(d, q, m.Hits, steps(d, kind, t.Shape), profileOf(kind))
	if err := ctx.Err(); err != nil {
		return r, err
	}
	if t.Shape == structure.Table {
		r.addColumns(t)
	}
	r.units(d, q, m, o, kind)
	switch kind {
	case doc.Logs:
		r.trouble(d, q, o)
	case doc.Grep:
		r.places(d, q)
	case doc.Code:
		r.comments(d)
	}
	if (kind == doc.Code || kind == doc.Docs) && t.Shape != structure.Table {
		r.close()
	}
	return r, ctx.Err()
}

// log2 approximates the base-2 logarithm: exact at powers of two, linear in between. It uses exact
// arithmetic only, so that every machine gets the same result. It is 0 for x <= 1.
func log2(x float64) float64 {
	if x <= 1 {
		return 0
	}
	half, e := math.Frexp(x) // x = half * 2^e, half in [0.5, 1)
	return float64(e-1) + (2*half - 1)
}

// idf is the inverse document frequency of BM25 for a term that df of n documents contain, in bits: log2(1
// + (n-df+0.5)/(df+0.5)). It is positive even for a term in every document.
func idf(n, df float64) float64 { return log2(1 + (max(n-df, 0)+0.5)/(df+0.5)) }

// weigh computes the rarity of every group in this text.
func (r *Relevance) weigh(d *doc.Document, q *Question, hits []Hit) {
	df := make([]float64, len(q.Groups))
	last := make([]int32, len(q.Groups)) // line of the last hit, plus one
	for _, h := range hits {
		if last[h.Group] != h.Line+1 {
			last[h.Group] = h.Line + 1
			df[h.Group]++
		}
	}
	for g, group := range q.Groups {
		r.rarity[g] = idf(float64(len(d.Lines)), df[g]) * group.Weight
	}
}

// step is the fraction of a hit's influence that crosses from the line above to this one, and back upwards.
type step struct{ down, up float32 }

// steps computes how influence decays per line. In a list of matches it also decays with the lines between
// two matches, and it never crosses from file to file.
func steps(d *doc.Document, kind doc.Kind, shape structure.Shape) []step {
	p := profileOf(kind)
	out := make([]step, len(d.Lines))
	if shape == structure.Table { // the rows of a table are independent
		return out
	}
	for i := range out {
		out[i] = step{float32(p.After), float32(p.Before)}
		if i == 0 || d.Places == nil {
			continue
		}
		here, above := d.Places[i], d.Places[i-1]
		if here.Path != above.Path {
			out[i] = step{}
			continue
		}
		if gap := here.Number - above.Number; gap > 1 {
			f := float32(1 / (1 + float64(doc.Ranking.Gap*log2(float64(gap)))))
			out[i] = step{out[i].down * f, out[i].up * f}
		}
	}
	return out
}

// near adds, for every term, its best occurrence near the line, with exponential decay in both directions,
// summed over the terms.
func (r *Relevance) near(d *doc.Document, q *Question, found []Hit, steps []step, p doc.Profile) {
	reach, together := make([]float32, len(d.Lines)), make([]float32, len(d.Lines))
	groups := byGroup(found, len(q.Groups))
	r.dropCommon(groups, doc.SpreadSteps/max(len(d.Lines), 1))
	for g, hits := range groups {
		if len(hits) == 0 {
			continue
		}
		spread(reach, hits, steps)
		bits, rarity := float32(q.Groups[g].Weight*q.Groups[g].Bits), r.rarity[g]
		for i, v := range reach {
			r.Score[i] += float64(rarity * float64(v))
			together[i] += float32(bits * v)
		}
		for _, h := range hits {
			r.Score[h.Line] += p.Own * r.rarity[g] * float64(h.Weight) * 16 / float64(8+d.Tokens[h.Line])
		}
	}
	r.found = float64(highest(together))
}

// dropCommon empties all but the rarest groups, because each takes a pass over all lines.
func (r *Relevance) dropCommon(groups [][]Hit, most int) {
	var found []int
	for g, hits := range groups {
		if len(hits) > 0 {
			found = append(found, g)
		}
	}
	slices.SortStableFunc(found, func(a, b int) int { return cmp.Compare(r.rarity[b], r.rarity[a]) })
	for _, g := range found[min(len(found), most):] {
		groups[g] = nil
	}
}

// addColumns treats the question's words in a table's header as found in every row, because they name what
// the rows contain. Found becomes the bits of the best row together with those words.
func (r *Relevance) addColumns(t *Text) {
	header := make([]bool, len(t.Question.Groups))
	bits := 0.0
	rows := map[int32]float64{}
	best := 0.0
	for _, h := range t.Matches.Hits {
		b := float64(t.Question.BitsOf(h.Group) * float64(h.Weight))
		if h.Line == 0 && !header[h.Group] {
			header[h.Group] = true
			bits += b
		}
		if !header[h.Group] {
			rows[h.Line] += b
			best = max(best, rows[h.Line])
		}
	}
	if best > 0 {
		r.found = min(bits+best, t.Question.Asked())
	}
}

func byGroup(hits []Hit, groups int) [][]Hit {
	count := make([]int, groups)
	for _, h := range hits {
		count[h.Group]++
	}
	all, out := make([]Hit, len(hits)), make([][]Hit, groups)
	for g, n := range count {
		out[g], all = all[:0:n], all[n:]
	}
	for _, h := range hits {
		out[h.Group] = append(out[h.Group], h)
	}
	return out
}

// spread sets reach to the best decayed occurrence seen from each line. The loop carries the previous
// line's value in a variable and compares by hand, because every iteration waits for it and max would test
// for NaN first.
func spread(reach []float32, hits []Hit, steps []step) {
	clear(reach)
	for _, h := range hits {
		reach[h.Line] = max(reach[h.Line], h.Weight)
	}
	carried := float32(0)
	for i, own := range reach {
		carried *= steps[i].down
		if own > carried {
			carried = own
		}
		reach[i] = carried
	}
	for i := len(reach) - 2; i >= 0; i-- {
		carried *= steps[i+1].up
		if own := reach[i]; own > carried {
			carried = own
		}
		reach[i] = carried
	}
}

// comments lowers the score of comment lines, which lead to an answer rather than contain it.
func (r *Relevance) comments(d *doc.Document) {
	for i, line := range d.Lines {
		if !d.Blank(i) && structure.IsComment(line[doc.FirstVisible(line):]) {
			r.Score[i] *= doc.Ranking.Comment
		}
	}
}

// places prefers source code to tests, and both to prose.
func (r *Relevance) places(d *doc.Document, q *Question) {
	share := 1.0
	for i, p := range d.Places {
		if i == 0 || p.Path != d.Places[i-1].Path {
			share = pathShare(q, p.Path)
		}
		r.Score[i] *= share
	}
}

// pathShare returns the fraction of its score that a match in path keeps.
func pathShare(q *Question, path string) float64 {
	switch {
	case !q.Tests && doc.IsTestPath(path):
		return doc.Ranking.Tests
	case !q.Prose && doc.IsProsePath(path):
		return doc.Ranking.Prose
	}
	return 1
}

// close raises the score of a line between two relevant ones, so that selections are contiguous.
func (r *Relevance) close() {
	above := 0.0
	for i := range r.Score {
		s := r.Score[i]
		if i > 0 && i+1 < len(r.Score) {
			r.Score[i] = max(s, doc.Ranking.Close*min(above, r.Score[i+1]))
		}
		above = s
	}
}

func profileOf(kind doc.Kind) doc.Profile {
	switch kind {
	case doc.Docs:
		return doc.Ranking.Docs
	case doc.Logs:
		return doc.Ranking.Logs
	case doc.Grep:
		return doc.Ranking.Grep
	}
	return doc.Ranking.Code
}
