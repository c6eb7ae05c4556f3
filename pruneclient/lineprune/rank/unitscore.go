package rank

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// units adds the scores of the enclosing unit as a whole, of its head line, and of the unit around it.
func (r *Relevance) units(d *doc.Document, q *Question, m matches, o structure.Outline, kind doc.Kind) {
	if len(o.Units) == 0 {
		return
	}
	p := profileOf(kind)
	score := r.bm25(d, q, m.Hits, o, p)
	switch kind {
	case doc.Code:
		r.names(d, q, o, score)
	case doc.Grep:
		r.files(q, m.PathHits, o, score)
	}
	own := append([]float64(nil), score...)
	for u, unit := range o.Units {
		if unit.Parent >= 0 {
			score[u] += float64(p.Parent * own[unit.Parent])
		}
	}
	for i, u := range o.Of {
		if u >= 0 {
			r.Score[i] += score[u]
		}
	}
}

// bm25 scores each unit as one document, and its head line a second time.
func (r *Relevance) bm25(d *doc.Document, q *Question, found []Hit, o structure.Outline, p doc.Profile) []float64 {
	score := make([]float64, len(o.Units))
	length, average := unitLengths(d, o)
	tf := make([]float32, len(q.Groups))
	for from := 0; from < len(found); {
		u := o.Of[found[from].Line]
		to := from + 1
		for to < len(found) && o.Of[found[to].Line] == u {
			to++
		}
		if u >= 0 {
			clear(tf)
			for _, h := range found[from:to] {
				tf[h.Group] += h.Weight
				if o.Units[u].Head == int(h.Line) {
					score[u] += float64(p.Head * r.rarity[h.Group] * float64(h.Weight))
				}
			}
			k := float64(doc.TermSaturation * (1 - doc.LengthShare + float64(doc.LengthShare*length[u]/average)))
			for g, t := range tf {
				if t > 0 {
					score[u] += p.Unit * r.rarity[g] * float64(t) * (doc.TermSaturation + 1) / (float64(t) + k)
				}
			}
		}
		from = to
	}
	return score
}

// unitLengths returns for each unit the tokens that belong to it but to no nested unit, and their average.
func unitLengths(d *doc.Document, o structure.Outline) (length []float64, average float64) {
	length = make([]float64, len(o.Units))
	total, used := 0.0, 0.0
	for i, u := range o.Of {
		if u >= 0 {
			length[u] += float64(d.Tokens[i])
		}
	}
	for _, l := range length {
		if l > 0 {
			total += l
			used++
		}
	}
	return length, total / max(used, 1)
}

// names adds a score for a definition's name, by the fraction of the name's parts that the question
// contains.
func (r *Relevance) names(d *doc.Document, q *Question, o structure.Outline, score []float64) {
	var buf [64]byte
	for u, unit := range o.Units {
		parts, matched, sum := 0, 0, 0.0
		doc.EachPart(structure.DefinedName(d.Lines[unit.Head]), func(part string) {
			parts++
			if best := r.bestOf(q, buf[:0], part); best > 0 {
				matched++
				sum += best
			}
		})
		if matched > 0 {
			score[u] += doc.Ranking.Name * sum * float64(matched) / float64(parts)
		}
	}
}

// bestOf returns the weight of the best group that a word stands for, or 0.
func (r *Relevance) bestOf(q *Question, buf []byte, word string) float64 {
	best := 0.0
	if len(word) < 2 || len(word) > 64 || !q.Filter.Passes(word) {
		return best
	}
	for _, ref := range q.Stems[string(doc.Stem(doc.Lowered(buf, word)))] {
		best = max(best, r.rarity[ref.Group]*float64(ref.Weight))
	}
	return best
}

// files adds a score for the paths of a list of matches. Each group of the question counts once per file.
func (r *Relevance) files(q *Question, found []Hit, o structure.Outline, score []float64) {
	df := make([]float64, len(q.Groups))
	best := map[[2]int]float64{}
	for _, h := range found {
		key := [2]int{int(o.Of[h.Line]), int(h.Group)}
		if best[key] == 0 {
			df[h.Group]++
		}
		best[key] = max(best[key], float64(h.Weight))
	}
	for _, h := range found {
		key := [2]int{int(o.Of[h.Line]), int(h.Group)}
		rarity := idf(float64(len(o.Units)), df[h.Group]) * q.Groups[h.Group].Weight
		score[key[0]] += float64(doc.Ranking.Grep.Head * rarity * best[key])
		delete(best, key) // further hits in the same file add nothing
	}
}
