package lineprune

import (
	"math"
	"slices"
)

// trust is how sure the pruner is that the text speaks of what is asked.
func (p *pruning) trust() float64 {
	e, sure := p.evidence(), profileOf(p.kind).sure
	if p.kind != Logs || !p.q.failure {
		return e / (sure + e)
	}
	c := e / (float64(elsewhere*sure) + e)
	if p.holdsFailure() {
		return max(c, failureConfidence)
	}
	return c
}

// complete is the share of a question that, standing together, is its answer: of a
// question of one word there is no more to find.
const complete = 0.8

// evidence is how much speaks for an answer in the text.
func (p *pruning) evidence() float64 {
	e := p.signs()
	if found := p.relevance.found; found > 0 && found >= complete*p.q.asked() {
		return max(e, profileOf(p.kind).sure)
	}
	return e
}

// signs sums the evidence of different sources.
func (p *pruning) signs() float64 {
	return p.q.together(p.relevance.found, len(p.d.lines)) + p.q.phrases(p.d) + p.q.heads(p.d, p.outline)
}

// chance is what a text's size takes off the evidence of a question none of which is
// found: in many lines, some have a few of its words together by luck.
const chance = 0.3 // per doubling of the lines

// together says how far found, the bits of the question that stand together at the
// text's best place, go beyond luck. Of long questions less is asked: nobody finds
// all their words in one spot. Where they are found in one spot, it is no luck.
func (q *question) together(found float64, lines int) float64 {
	if found == 0 {
		return 0
	}
	asked := q.asked()
	missing := max(0, 1-found/asked)
	return max(0, found/math.Sqrt(asked)-float64(chance*log2(float64(lines))*missing))
}

// asked is the bits of the whole question.
func (q *question) asked() float64 {
	sum := 0.0
	for g := range q.groups {
		sum += q.bitsOf(int16(g))
	}
	return sum
}

// bitsOf is how much it says that a text has a group's word, weighed by how much the
// question means it.
func (q *question) bitsOf(g int16) float64 { return float64(q.groups[g].weight * q.groups[g].bits) }

// What further signs of an answer weigh beside words that stand together.
const (
	phraseWeight = 0.7 // by the root of the bits
	headWeight   = 1.2
)

// phraseBytes is how far apart the beginnings of two words of a phrase are at most,
// and phraseHits how many hits.
const (
	phraseBytes = 16
	phraseHits  = 4
)

// phrases is the evidence in words that follow each other in the text as they do in
// the question: "rate limit" in rate_limit. Few do so by luck.
func (q *question) phrases(d *document) float64 {
	found, bits := map[[2]int16]bool{}, 0.0
	for i, a := range d.hits {
		if a.weight < 1 {
			continue
		}
		for _, b := range d.hits[i+1 : min(i+1+phraseHits, len(d.hits))] {
			if b.line != a.line || b.at < a.at || b.at-a.at > phraseBytes {
				break
			}
			if pair := [2]int16{a.group, b.group}; b.weight == 1 && slices.Contains(q.next[a.group], b.group) && !found[pair] {
				found[pair] = true
				bits += min(q.bitsOf(a.group), q.bitsOf(b.group))
			}
		}
	}
	return float64(phraseWeight * math.Sqrt(bits))
}

// heads is the evidence in the words of the one definition, heading or path that has
// most of them.
func (q *question) heads(d *document, o outline) float64 {
	if len(o.units) == 0 {
		return 0
	}
	hits, isHead := d.hits, func(line int32) bool {
		u := o.of[line]
		return u >= 0 && o.units[u].head == int(line)
	}
	if d.places != nil {
		hits, isHead = d.pathHits, func(int32) bool { return true }
	}
	best := 0.0
	seen := make([]int32, len(q.groups)) // line of the group's latest hit, plus one
	for from := 0; from < len(hits); {
		line, bits := hits[from].line, 0.0
		for ; from < len(hits) && hits[from].line == line; from++ {
			if h := hits[from]; h.weight == 1 && seen[h.group] != line+1 {
				seen[h.group] = line + 1
				bits += q.bitsOf(h.group)
			}
		}
		if bits > best && isHead(line) {
			best = bits
		}
	}
	if best == 0 {
		return 0
	}
	return float64(headWeight * best / math.Sqrt(q.asked()))
}
