package contextgc

import (
	"cmp"
	"slices"
	"time"
)

// Candidate is a segment that may be pruned, with the reason in words.
type Candidate struct {
	ID       string  `json:"segment_id"`
	Score    float64 `json:"score"`
	Tokens   int     `json:"tokens"`
	Reason   string  `json:"reason"`
	Type     Type    `json:"segment_type"`
	AgeHours float64 `json:"age_hours"`

	touched time.Time
}

// analyze returns the segments that may be pruned, most likely first: those that are
// neither pinned nor reachable from the roots.
func analyze(segments []Segment, roots []string, now time.Time) []Candidate {
	var keep map[string]bool
	if len(roots) > 0 {
		keep = reach(roots, references(segments))
	}
	candidates := make([]Candidate, 0, len(segments))
	for _, s := range segments {
		if s.Pinned || keep[s.ID] {
			continue
		}
		candidates = append(candidates, Candidate{
			ID: s.ID, Score: score(s, now), Tokens: s.Tokens, Reason: reason(s, now),
			Type: s.Type, AgeHours: ageHours(s, now), touched: s.Touched,
		})
	}
	slices.SortFunc(candidates, moreLikely)
	return candidates
}

// moreLikely orders candidates by score, highest first. Ties go by tokens (more first),
// last use (older first) and id.
func moreLikely(a, b Candidate) int {
	return cmp.Or(
		cmp.Compare(b.Score, a.Score),
		cmp.Compare(b.Tokens, a.Tokens),
		a.touched.Compare(b.touched),
		cmp.Compare(a.ID, b.ID),
	)
}
