package contextgc

import (
	"fmt"
	"slices"
)

// A candidate above deleteScore may be deleted if deleting is allowed. One above stashScore
// is worth stashing. All others are kept.
const (
	deleteScore = 0.7 + rounding
	stashScore  = 0.4 + rounding

	rounding = 1e-9 // tolerance for a sum of four products
)

// Plan lists the candidates to remove to free a number of tokens.
type Plan struct {
	Candidates []Candidate `json:"candidates"`
	Freed      int         `json:"total_tokens_freed"`
	Stash      []string    `json:"stash_segments"`
	Delete     []string    `json:"delete_segments"`
	Reason     string      `json:"reason"`

	// BreakEven is the price and the saving of clearing the plan's segments in a prompt cache. Nil: the plan frees nothing.
	BreakEven *BreakEven `json:"break_even,omitempty"`
}

// makePlan selects candidates, highest score first, until target tokens are freed. All are
// stashed; if deleting is allowed, those with the highest scores are deleted instead.
func makePlan(candidates []Candidate, target int, allowDelete bool) Plan {
	p := Plan{Candidates: candidates, Stash: []string{}, Delete: []string{}}
	if len(candidates) == 0 {
		p.Candidates, p.Reason = []Candidate{}, "no candidates available"
		return p
	}
	for _, c := range candidates { // sorted by score, so those that may be deleted come first
		if p.Freed >= target || c.Score <= stashScore {
			break
		}
		p.Freed += c.Tokens
		if allowDelete && c.Score > deleteScore {
			p.Delete = append(p.Delete, c.ID)
		} else {
			p.Stash = append(p.Stash, c.ID)
		}
	}
	p.Reason = p.does() + " to " + p.reaches(target)
	return p
}

func (p Plan) does() string {
	stash := fmt.Sprintf("stash %d segment(s)", len(p.Stash))
	remove := fmt.Sprintf("delete %d segment(s)", len(p.Delete))
	switch {
	case len(p.Stash) > 0 && len(p.Delete) > 0:
		return stash + " and " + remove
	case len(p.Stash) > 0:
		return stash
	case len(p.Delete) > 0:
		return remove
	}
	return "no action"
}

func (p Plan) reaches(target int) string {
	switch {
	case p.Freed >= target:
		return "target met"
	case len(p.Stash)+len(p.Delete) == 0:
		return "no candidates"
	}
	return fmt.Sprintf("partial (%d/%d tokens)", p.Freed, target)
}

// behind returns the tokens of the segments that stay and follow the first one that goes. The
// segments are in the order of the context window.
func (p Plan) behind(segments []Segment) int {
	goes := make(map[string]bool)
	for _, id := range slices.Concat(p.Stash, p.Delete) {
		goes[id] = true
	}
	after, started := 0, false
	for _, s := range segments {
		switch {
		case goes[s.ID]:
			started = true
		case started:
			after += s.Tokens
		}
	}
	return after
}
