package deepinfra

import (
	"bytes"
	"encoding/json"
	"math"
)

// holders are the fields rerankers put their list in, the more telling ones
// first; a field may hold an object with the list, too.
var holders = []string{"scores", "results", "result", "output", "data"}

// maxDepth is how many objects and lists may be around the list.
const maxDepth = 3

// parse returns one score per document. A document the answer does not mention
// is the worst of all, not zero: many models score in logits, below zero. A
// number too large for a float64 fails to decode, so every score is finite.
func parse(body []byte, documents int) ([]float64, error) {
	scores := make([]float64, documents)
	for i := range scores {
		scores[i] = math.Inf(-1)
	}
	if !json.Valid(body) || !read(body, scores, maxDepth) {
		return nil, &Error{Kind: ParseError}
	}
	return scores, nil
}

// read finds the list of scores in a JSON value and says whether there is one: the
// value itself, the only element of a list (one question, one list), or within one
// of the holders.
func read(value json.RawMessage, scores []float64, depth int) bool {
	value = bytes.TrimLeft(value, " \t\r\n")
	if value[0] == '[' {
		var elements []json.RawMessage
		_ = json.Unmarshal(value, &elements)
		if len(elements) == 1 && elements[0][0] == '[' && depth > 0 {
			return read(elements[0], scores, depth-1)
		}
		return readNumbers(value, scores) || readResults(value, scores)
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(value, &fields) != nil || depth == 0 {
		return false
	}
	for _, name := range holders {
		if inner, ok := fields[name]; ok && read(inner, scores, depth-1) {
			return true
		}
	}
	return false
}

// readNumbers reads scores in the order of the documents; null is none.
func readNumbers(value json.RawMessage, scores []float64) bool {
	var list []*float64
	if json.Unmarshal(value, &list) != nil {
		return false
	}
	found := false
	for i, score := range list {
		found = set(scores, float64(i), score) || found
	}
	return found
}

// readResults reads scores that name their document.
func readResults(value json.RawMessage, scores []float64) bool {
	var list []struct {
		Index          *float64 `json:"index"`
		Score          *float64 `json:"score"`
		RelevanceScore *float64 `json:"relevance_score"`
	}
	if json.Unmarshal(value, &list) != nil {
		return false
	}
	found := false
	for _, r := range list {
		score := r.Score
		if score == nil {
			score = r.RelevanceScore
		}
		found = r.Index != nil && set(scores, *r.Index, score) || found
	}
	return found
}

// set notes a score, if it is one of a document we sent.
func set(scores []float64, index float64, score *float64) bool {
	if score == nil || index < 0 || index >= float64(len(scores)) || index != math.Trunc(index) {
		return false
	}
	scores[int(index)] = *score
	return true
}
