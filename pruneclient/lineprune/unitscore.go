package lineprune

// units adds what the enclosing unit as a whole, its defining line and the unit
// around it say.
func (r *relevance) units(d *document, q *question, o outline, kind Kind) {
	if len(o.units) == 0 {
		return
	}
	p := profileOf(kind)
	score := r.bm25(d, q, o, p)
	switch kind {
	case Code:
		r.names(d, q, o, score)
	case Grep:
		r.files(d, q, o, score)
	}
	own := append([]float64(nil), score...)
	for u, unit := range o.units {
		if unit.parent >= 0 {
			score[u] += float64(p.parent * own[unit.parent])
		}
	}
	for i, u := range o.of {
		if u >= 0 {
			r.score[i] += score[u]
		}
	}
}

// bm25 scores each unit as one document, and its defining line once more.
func (r *relevance) bm25(d *document, q *question, o outline, p profile) []float64 {
	const k1, b = 1.2, 0.6
	score := make([]float64, len(o.units))
	length, average := unitLengths(d, o)
	tf := make([]float32, len(q.groups))
	for from := 0; from < len(d.hits); {
		u := o.of[d.hits[from].line]
		to := from + 1
		for to < len(d.hits) && o.of[d.hits[to].line] == u {
			to++
		}
		if u >= 0 {
			clear(tf)
			for _, h := range d.hits[from:to] {
				tf[h.group] += h.weight
				if o.units[u].head == int(h.line) {
					score[u] += float64(p.head * r.rarity[h.group] * float64(h.weight))
				}
			}
			k := float64(k1 * (1 - b + float64(b*length[u]/average)))
			for g, t := range tf {
				if t > 0 {
					score[u] += p.unit * r.rarity[g] * float64(t) * (k1 + 1) / (float64(t) + k)
				}
			}
		}
		from = to
	}
	return score
}

// unitLengths is the tokens that belong to each unit and to none within it, and
// their average.
func unitLengths(d *document, o outline) (length []float64, average float64) {
	length = make([]float64, len(o.units))
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
	return length, total / max(used, 1)
}

// names adds what a definition's name says: the more of its parts the question
// has, the more it is about just that.
func (r *relevance) names(d *document, q *question, o outline, score []float64) {
	var buf [64]byte
	for u, unit := range o.units {
		parts, matched, sum := 0, 0, 0.0
		eachPart(definedName(d.lines[unit.head]), func(part string) {
			parts++
			if best := r.bestOf(q, buf[:0], part); best > 0 {
				matched++
				sum += best
			}
		})
		if matched > 0 {
			score[u] += tune.name * sum * float64(matched) / float64(parts)
		}
	}
}

// bestOf is the weight of the best group a word stands for, or 0.
func (r *relevance) bestOf(q *question, buf []byte, word string) float64 {
	best := 0.0
	if len(word) < 2 || len(word) > 64 || !q.filter.passes(word) {
		return best
	}
	for _, ref := range q.stems[string(stem(lowered(buf, word)))] {
		best = max(best, r.rarity[ref.group]*float64(ref.weight))
	}
	return best
}

// files adds what the paths of a list of matches say, each of the question's ideas
// once per file.
func (r *relevance) files(d *document, q *question, o outline, score []float64) {
	df := make([]float64, len(q.groups))
	best := map[[2]int]float64{}
	for _, h := range d.pathHits {
		key := [2]int{int(o.of[h.line]), int(h.group)}
		if best[key] == 0 {
			df[h.group]++
		}
		best[key] = max(best[key], float64(h.weight))
	}
	for _, h := range d.pathHits {
		key := [2]int{int(o.of[h.line]), int(h.group)}
		rarity := idf(float64(len(o.units)), df[h.group]) * q.groups[h.group].weight
		score[key[0]] += float64(tune.grep.head * rarity * best[key])
		delete(best, key) // its other hits add nothing
	}
}
