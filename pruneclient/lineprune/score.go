package lineprune

import (
	"context"
	"math"
)

// relevance is what scoring found: a score per line and how far the text speaks of
// what is asked.
type relevance struct {
	score  []float64
	rarity []float64 // per group of the question, its rarity in this text times its weight
	found  float64   // bits of the question that stand together at the best place

	// Of a log only.
	signal   []float64 // per line, how much it looks like trouble, 0..1
	entry    []float64 // per entry, the most its lines do, less where the log is full of it
	alarmed  []bool    // per entry, whether one of its lines is a clear sign
	troubled bool      // something went wrong
	passed   bool      // something says that all went well
}

// score ranks the lines of a matched document. Wherever a product is added to
// something it is converted first, which rounds it: some processors multiply and add
// in one step, and the last digits would depend on the machine.
func score(ctx context.Context, d *document, q *question, o outline, kind Kind) (relevance, error) {
	r := relevance{score: make([]float64, len(d.lines)), rarity: make([]float64, len(q.groups))}
	r.weigh(d, q)
	r.near(d, q, steps(d, kind), profileOf(kind))
	if err := ctx.Err(); err != nil {
		return r, err
	}
	r.units(d, q, o, kind)
	switch kind {
	case Logs:
		r.trouble(d, q, o)
	case Grep:
		r.places(d, q)
	case Code:
		r.comments(d)
	}
	if kind == Code || kind == Docs {
		r.close()
	}
	return r, ctx.Err()
}

// log2 is the logarithm at powers of two and straight between them: exact
// arithmetic, so that every machine agrees on it. It is 0 up to 1 and grows with
// every bit of x above it.
func log2(x float64) float64 {
	if x <= 1 {
		return 0
	}
	half, e := math.Frexp(x) // x = half * 2^e, half in [0.5, 1)
	return float64(e-1) + (2*half - 1)
}

// idf is BM25's weight of a term that df of n documents have. It is positive even
// of a term that all have: lines with it are worth more than lines without any.
func idf(n, df float64) float64 { return log2(1 + (max(n-df, 0)+0.5)/(df+0.5)) }

// weigh gives every group its rarity in this text.
func (r *relevance) weigh(d *document, q *question) {
	df := make([]float64, len(q.groups))
	last := make([]int32, len(q.groups)) // line of the latest hit, plus one
	for _, h := range d.hits {
		if last[h.group] != h.line+1 {
			last[h.group] = h.line + 1
			df[h.group]++
		}
	}
	for g, group := range q.groups {
		r.rarity[g] = idf(float64(len(d.lines)), df[g]) * group.weight
	}
}

// step is how much of a hit's influence crosses from the line above to this one,
// downwards, and back upwards.
type step struct{ down, up float32 }

// steps lets influence fade with every line; in a list of matches with the lines
// between two of them, and never from file to file.
func steps(d *document, kind Kind) []step {
	p := profileOf(kind)
	out := make([]step, len(d.lines))
	for i := range out {
		out[i] = step{float32(p.after), float32(p.before)}
		if i == 0 || d.places == nil {
			continue
		}
		here, above := d.places[i], d.places[i-1]
		if here.path != above.path {
			out[i] = step{}
			continue
		}
		if gap := here.number - above.number; gap > 1 {
			f := float32(1 / (1 + float64(tune.gap*log2(float64(gap)))))
			out[i] = step{out[i].down * f, out[i].up * f}
		}
	}
	return out
}

// near adds, for every term, its best occurrence near the line, decayed with
// distance on both sides, summed over different terms.
func (r *relevance) near(d *document, q *question, steps []step, p profile) {
	reach, together := make([]float32, len(d.lines)), make([]float32, len(d.lines))
	for g, hits := range byGroup(d.hits, len(q.groups)) {
		if len(hits) == 0 {
			continue
		}
		spread(reach, hits, steps)
		bits, rarity := float32(q.groups[g].weight*q.groups[g].bits), r.rarity[g]
		for i, v := range reach {
			r.score[i] += float64(rarity * float64(v))
			together[i] += float32(bits * v)
		}
		for _, h := range hits {
			r.score[h.line] += p.own * r.rarity[g] * float64(h.weight) * 16 / float64(8+d.tokens[h.line])
		}
	}
	r.found = float64(highest(together))
}

func byGroup(hits []hit, groups int) [][]hit {
	count := make([]int, groups)
	for _, h := range hits {
		count[h.group]++
	}
	all, out := make([]hit, len(hits)), make([][]hit, groups)
	for g, n := range count {
		out[g], all = all[:0:n], all[n:]
	}
	for _, h := range hits {
		out[h.group] = append(out[h.group], h)
	}
	return out
}

// spread fills reach with the best decayed occurrence seen from each line. What
// comes from the line above is in a variable and compared by hand: each line waits
// for that, and max would first ask whether it is a number.
func spread(reach []float32, hits []hit, steps []step) {
	clear(reach)
	for _, h := range hits {
		reach[h.line] = max(reach[h.line], h.weight)
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

// comments lowers lines that lead to an answer rather than being one.
func (r *relevance) comments(d *document) {
	for i, line := range d.lines {
		if !d.blank(i) && isComment(line[firstVisible(line):]) {
			r.score[i] *= tune.comment
		}
	}
}

// places prefers source to tests, and both to prose.
func (r *relevance) places(d *document, q *question) {
	share := 1.0
	for i, p := range d.places {
		if i == 0 || p.path != d.places[i-1].path {
			share = q.shareOf(p.path)
		}
		r.score[i] *= share
	}
}

// shareOf is what a match in path keeps of its score.
func (q *question) shareOf(path string) float64 {
	switch {
	case !q.tests && isTestPath(path):
		return tune.tests
	case !q.prose && isProsePath(path):
		return tune.prose
	}
	return 1
}

// close lifts a line between two relevant ones, so that selections stay whole.
func (r *relevance) close() {
	above := 0.0
	for i := range r.score {
		s := r.score[i]
		if i > 0 && i+1 < len(r.score) {
			r.score[i] = max(s, tune.close*min(above, r.score[i+1]))
		}
		above = s
	}
}
