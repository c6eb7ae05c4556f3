package rank

import (
	"math"
	"slices"
)

// Ranking returns the lines with a score above floor, best first, ties in text order. Scores are compared
// as float32, so that differences in the last bits between machines do not change the order.
func (r *Relevance) Ranking(floor float64) []int {
	var keys []uint64
	for i, s := range r.Score {
		if s > floor {
			keys = append(keys, uint64(math.Float32bits(float32(s)))<<32|uint64(^uint32(i)))
		}
	}
	slices.Sort(keys)
	order := make([]int, len(keys))
	for i, k := range keys {
		order[len(keys)-1-i] = int(^uint32(k))
	}
	return order
}

// With returns the relevance to a question of which another relevance is to one part. The best line of the
// part counts as much as the best line of all, because otherwise only the part with the rarer words would
// be answered.
func (r Relevance) With(part Relevance) Relevance {
	best := part.Best()
	if best <= 0 {
		return r
	}
	share := r.Best() / best
	r.Score = slices.Clone(r.Score)
	for i, s := range part.Score {
		r.Score[i] = max(r.Score[i], float64(share*s))
	}
	return r
}

func (r *Relevance) Best() float64 { return highest(r.Score) }

// highest returns the largest of the values, which are not negative, or 0 if there are none.
func highest[T float32 | float64](values []T) T {
	top := T(0)
	for _, v := range values {
		top = max(top, v)
	}
	return top
}
