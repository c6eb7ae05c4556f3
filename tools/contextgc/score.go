package contextgc

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Weights of the score's four parts. Age is measured in days.
const (
	ageWeight        = 0.4
	typeWeight       = 0.3
	referenceWeight  = 0.2
	generationWeight = 0.1
)

// Weights of a segment's generation and of a type that worth does not have.
const (
	youngGeneration = .3
	oldGeneration   = 1
	otherWorth      = .5
)

// worth is the pruning weight of each type: a higher value is pruned sooner.
var worth = map[Type]float64{Log: 1, Note: .8, Code: .5, Message: .3, Summary: .2, Decision: .1}

// ageHours returns the hours since a segment was last used, at least 0.
func ageHours(s Segment, now time.Time) float64 {
	return max(0, now.Sub(s.Touched).Hours())
}

// score rates a segment: a higher score is more likely to be pruned.
func score(s Segment, now time.Time) float64 {
	w, known := worth[s.Type]
	if !known {
		w = otherWorth
	}
	generation := youngGeneration
	if s.Old {
		generation = oldGeneration
	}
	return ageWeight*(ageHours(s, now)/24) + typeWeight*w +
		referenceWeight*(1/float64(s.References+1)) + generationWeight*generation
}

// reason explains a segment's score in words.
func reason(s Segment, now time.Time) string {
	var parts []string
	switch age := ageHours(s, now); {
	case age > 24:
		parts = append(parts, fmt.Sprintf("old (%.1fh)", age))
	case age > 1:
		parts = append(parts, fmt.Sprintf("recent (%.1fh)", age))
	}
	if s.Type == Log || s.Type == Note {
		parts = append(parts, fmt.Sprintf("low-value type (%s)", s.Type))
	}
	switch {
	case s.References == 0:
		parts = append(parts, "no references")
	case s.References < 3:
		parts = append(parts, fmt.Sprintf("low refcount (%d)", s.References))
	}
	if s.Old {
		parts = append(parts, "old generation")
	}
	if len(parts) == 0 {
		return fmt.Sprintf("score %.2f", score(s, now))
	}
	return strings.Join(parts, ", ")
}

// explain returns the score as a sum of its parts.
func explain(s Segment, now time.Time) string {
	age := ageWeight * ageHours(s, now) / 24
	kind := score(Segment{Type: s.Type, References: math.MaxInt32, Touched: now}, now) - generationWeight*.3
	refs := referenceWeight / float64(s.References+1)
	return fmt.Sprintf("%s scores %.2f = age %.2f (%.1f h) + type %.2f (%s) + references %.2f (%d) + generation %.2f",
		s.ID, score(s, now), age, ageHours(s, now), kind, s.Type, refs, s.References,
		score(s, now)-age-kind-refs)
}
