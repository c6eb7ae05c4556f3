package lineprune

import (
	"context"
	"math/bits"
)

// relevance is what scoring found: a score per line and how well the question is
// covered.
type relevance struct {
	score    []float64
	coverage float64 // share of the question's weight that occurs at all, 0..1
	idf      []float64
}

// log2 is exact arithmetic on the leading bits, so that every machine agrees on it.
func log2(x float64) float64 {
	n := uint64(x * 1024)
	if n == 0 {
		return 0
	}
	e := bits.Len64(n) - 1
	return float64(e-10) + float64(n)/float64(uint64(1)<<e) - 1
}

func score(ctx context.Context, d *document, q *question, o outline, kind Kind) (relevance, error) {
	r := relevance{score: make([]float64, len(d.lines)), idf: make([]float64, len(q.groups))}
	if len(d.lines) == 0 {
		return r, nil
	}
	r.weigh(d, q)
	byGroup := r.near(d, q)
	if err := ctx.Err(); err != nil {
		return r, err
	}
	_ = byGroup
	r.units(d, q, o)
	if kind == Logs {
		r.failures(d, q)
	}
	return r, nil
}

// weigh gives every group its rarity in this text, and measures coverage.
func (r *relevance) weigh(d *document, q *question) {
	df := make([]float64, len(q.groups))
	last := make([]int32, len(q.groups))
	for i := range last {
		last[i] = -1
	}
	best := make([]float32, len(q.groups))
	for _, h := range d.hits {
		best[h.group] = max(best[h.group], h.weight)
		if last[h.group] != h.line {
			last[h.group] = h.line
			df[h.group]++
		}
	}
	n := float64(len(d.lines))
	have, want := 0.0, 0.0
	for g := range q.groups {
		r.idf[g] = log2(1+(n-df[g]+0.5)/(df[g]+0.5)) * q.groups[g].weight
		want += q.groups[g].weight
		have += q.groups[g].weight * float64(best[g])
	}
	if want > 0 {
		r.coverage = have / want
	}
}

// near adds, for every term, its best occurrence near the line, decayed with
// distance on both sides, summed over different terms.
func (r *relevance) near(d *document, q *question) [][]hit {
	byGroup := make([][]hit, len(q.groups))
	for _, h := range d.hits {
		byGroup[h.group] = append(byGroup[h.group], h)
	}
	n := len(d.lines)
	reach := make([]float64, n)
	for g, hits := range byGroup {
		if len(hits) == 0 {
			continue
		}
		spread(reach, hits)
		for i, v := range reach {
			r.score[i] += tune.Near * r.idf[g] * v
		}
		for _, h := range hits {
			r.score[h.line] += tune.Own * r.idf[g] * float64(h.weight) / float64(8+d.tokens[h.line]) * 16
		}
	}
	return byGroup
}

// spread fills reach with the best decayed occurrence seen from each line.
func spread(reach []float64, hits []hit) {
	clear(reach)
	for _, h := range hits {
		reach[h.line] = max(reach[h.line], float64(h.weight))
	}
	for i := 1; i < len(reach); i++ {
		reach[i] = max(reach[i], reach[i-1]*tune.After)
	}
	for i := len(reach) - 2; i >= 0; i-- {
		reach[i] = max(reach[i], reach[i+1]*tune.Before)
	}
}

// units adds what the enclosing unit as a whole, and its defining line, say.
func (r *relevance) units(d *document, q *question, o outline) {
	if len(o.units) == 0 {
		return
	}
	score := make([]float64, len(o.units))
	tf := make([]float64, len(o.units)*len(q.groups))
	length := make([]float64, len(o.units))
	total, used := 0.0, 0.0
	for i, u := range o.of {
		if u >= 0 {
			length[u] += float64(d.tokens[i])
		}
	}
	for _, l := range length {
		if l > 0 {
			total += l
			used++
		}
	}
	average := total / max(used, 1)
	for _, h := range d.hits {
		u := o.of[h.line]
		if u < 0 {
			continue
		}
		tf[int(u)*len(q.groups)+int(h.group)] += float64(h.weight)
		if o.units[u].head == int(h.line) {
			score[u] += tune.Head * r.idf[h.group] * float64(h.weight)
		}
	}
	for u := range o.units {
		k := 1.2 * (0.4 + 0.6*length[u]/average)
		for g := range q.groups {
			if t := tf[u*len(q.groups)+g]; t > 0 {
				score[u] += tune.Unit * r.idf[g] * t * 2.2 / (t + k)
			}
		}
	}
	for i, u := range o.of {
		if u >= 0 {
			r.score[i] += score[u]
		}
	}
}

func (r *relevance) failures(d *document, q *question) {
	if !q.failure && !q.warning {
		return
	}
	sig := make([]float64, len(d.lines))
	for i, line := range d.lines {
		sig[i] = signal(line)
	}
	for i := range sig {
		r.score[i] += tune.Failure * sig[i]
	}
}
