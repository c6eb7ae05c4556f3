package contextgc

import "fmt"

// A candidate above deleteScore can be deleted where deleting is allowed; one above
// stashScore is worth stashing; what scores less stays.
const (
	deleteScore = 0.7 + rounding
	stashScore  = 0.4 + rounding

	rounding = 1e-9 // of a sum of four products
)

// Plan says which candidates to take out to free a number of tokens.
type Plan struct {
	Candidates []Candidate `json:"candidates"`
	Freed      int         `json:"total_tokens_freed"`
	Stash      []string    `json:"stash_segments"`
	Delete     []string    `json:"delete_segments"`
	Reason     string      `json:"reason"`
}

// MakePlan selects candidates, the most likely first, until target tokens are
// freed. Everything selected is stashed, unless deleting is allowed: then the
// candidates with the highest scores are deleted.
func MakePlan(candidates []Candidate, target int, allowDelete bool) Plan {
	p := Plan{Candidates: candidates, Stash: []string{}, Delete: []string{}}
	if len(candidates) == 0 {
		p.Candidates, p.Reason = []Candidate{}, "no candidates available"
		return p
	}
	for _, c := range candidates { // sorted: those that could be deleted come first
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
