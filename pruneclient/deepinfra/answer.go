package deepinfra

import (
	"encoding/json"
	"math"
)

// answer is every shape rerankers answer in: a list of scores in the order of
// the documents, or results that name their document.
type answer struct {
	Scores  []*float64 `json:"scores"`
	Results []result   `json:"results"`
}

type result struct {
	Index          *int     `json:"index"`
	Score          *float64 `json:"score"`
	RelevanceScore *float64 `json:"relevance_score"`
}

// parse returns one score per document. A document the answer does not mention
// is the worst of all, not zero: many models score in logits, below zero. A
// number too large for a float64 fails to decode, so every score is finite.
func parse(body []byte, documents int) ([]float64, error) {
	var a answer
	if json.Unmarshal(body, &a) != nil {
		return nil, &Error{Kind: ParseError}
	}
	scores := make([]float64, documents)
	for i := range scores {
		scores[i] = math.Inf(-1)
	}
	found := 0
	set := func(index int, score *float64) {
		if score != nil && index >= 0 && index < documents {
			scores[index] = *score
			found++
		}
	}
	for i, score := range a.Scores {
		set(i, score)
	}
	if len(a.Scores) == 0 {
		for _, r := range a.Results {
			if r.Index != nil {
				set(*r.Index, r.score())
			}
		}
	}
	if found == 0 {
		return nil, &Error{Kind: ParseError}
	}
	return scores, nil
}

func (r result) score() *float64 {
	if r.Score != nil {
		return r.Score
	}
	return r.RelevanceScore
}
