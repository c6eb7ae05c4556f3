package contextgc

import (
	"slices"
	"time"
)

// What the vectors compare.
const (
	StashScore  = stashScore
	DeleteScore = deleteScore
)

// SortCandidates sorts candidates as Analyze does.
func SortCandidates(candidates []Candidate) []Candidate {
	slices.SortFunc(candidates, moreLikely)
	return candidates
}

// WithoutUse returns a candidate without the time of its last use.
func (c Candidate) WithoutUse() Candidate {
	c.touched = time.Time{}
	return c
}

// The functions that the vectors call.
var (
	Analyze    = analyze
	MakePlan   = makePlan
	Reachable  = reach
	Reason     = reason
	References = references
	Score      = score
)
