package contextgc

import (
	"maps"
	"slices"
	"strings"
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
	Analyze  = analyze
	MakePlan = makePlan
	Reason   = reason
	Score    = score
)

// Reachable returns, sorted, what is reached from roots.
func Reachable(roots []string, refs map[string][]string) []string {
	return slices.Sorted(maps.Keys(reach(roots, refs)))
}

// References returns the references with one for each pair of segments of a topic.
func References(segments []Segment) map[string][]string {
	all := make(map[string][]string)
	refs := references(segments)
	for _, s := range segments {
		found := make(map[string]bool)
		for _, to := range refs[s.ID] {
			if !strings.HasPrefix(to, topicNode) {
				found[to] = true
				continue
			}
			for _, id := range refs[to] {
				found[id] = found[id] || id != s.ID
			}
		}
		maps.DeleteFunc(found, func(_ string, refers bool) bool { return !refers })
		if len(found) > 0 {
			all[s.ID] = slices.Sorted(maps.Keys(found))
		}
	}
	return all
}
