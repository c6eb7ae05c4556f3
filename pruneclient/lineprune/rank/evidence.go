package rank

import (
	"math"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// Confidence returns how sure the pruner is that the text covers the question, 0..1.
func Confidence(t *Text, r *Relevance) float64 {
	e, sure := t.evidence(r), profileOf(t.Kind).Sure
	if t.Kind != doc.Logs || !t.Question.Failure {
		return e / (sure + e)
	}
	c := e / (float64(doc.ElsewhereFactor*sure) + e)
	if (r.troubled || r.passed) && t.mentioned(r) >= doc.MentionShare { // the log has the failure
		return max(c, doc.FailureConfidence)
	}
	return c
}

// evidence returns the amount of evidence that the text contains an answer.
func (t *Text) evidence(r *Relevance) float64 {
	e := together(t.Question, r.found, len(t.Doc.Lines)) + phrases(t.Question, t.Matches.Hits) + heads(t)
	if found := r.found; found > 0 && found >= doc.CompleteShare*t.Question.Asked() {
		return max(e, profileOf(t.Kind).Sure)
	}
	return e
}

// together returns by how much found exceeds the amount expected by chance. found is the information, in
// bits, of the question's words that occur together at the text's best place. The evidence is relative to
// the root of the question's bits, because few passages have all words of a long question. The deduction
// for chance shrinks to 0 as found approaches the whole question.
func together(q *Question, found float64, lines int) float64 {
	if found == 0 {
		return 0
	}
	asked := q.Asked()
	missing := max(0, 1-found/asked)
	return max(0, found/math.Sqrt(asked)-float64(doc.ChanceBits*log2(float64(lines))*missing))
}

// phrases returns the evidence from words that follow each other in the text as they do in the question,
// such as "rate limit" in rate_limit. This rarely happens by chance.
func phrases(q *Question, hits []Hit) float64 {
	found, bits := map[[2]int16]bool{}, 0.0
	for i, a := range hits {
		if a.Weight < 1 {
			continue
		}
		for _, b := range hits[i+1 : min(i+1+doc.PhraseHits, len(hits))] {
			if b.Line != a.Line || b.At < a.At || b.At-a.At > doc.PhraseBytes {
				break
			}
			if pair := [2]int16{a.Group, b.Group}; b.Weight == 1 && slices.Contains(q.Next[a.Group], b.Group) && !found[pair] {
				found[pair] = true
				bits += min(q.BitsOf(a.Group), q.BitsOf(b.Group))
			}
		}
	}
	return float64(doc.PhraseWeight * math.Sqrt(bits))
}

// heads returns the evidence from the one definition, heading or path that contains most of the question.
func heads(t *Text) float64 {
	d, q, o := t.Doc, t.Question, t.Outline
	if len(o.Units) == 0 {
		return 0
	}
	hits, isHead := t.Matches.Hits, func(line int32) bool {
		u := o.Of[line]
		return u >= 0 && o.Units[u].Head == int(line)
	}
	if d.Places != nil {
		hits, isHead = t.Matches.PathHits, func(int32) bool { return true }
	}
	best := 0.0
	seen := make([]int32, len(q.Groups)) // line of the group's last hit, plus one
	for from := 0; from < len(hits); {
		line, bits := hits[from].Line, 0.0
		for ; from < len(hits) && hits[from].Line == line; from++ {
			if h := hits[from]; h.Weight == 1 && seen[h.Group] != line+1 {
				seen[h.Group] = line + 1
				bits += q.BitsOf(h.Group)
			}
		}
		if bits > best && isHead(line) {
			best = bits
		}
	}
	if best == 0 {
		return 0
	}
	return float64(doc.HeadWeight * best / math.Sqrt(q.Asked()))
}
