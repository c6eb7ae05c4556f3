package audit

import "math/bits"

// Latency holds percentiles in microseconds.
type Latency struct {
	P50 int64 `json:"p50_us"`
	P95 int64 `json:"p95_us"`
	P99 int64 `json:"p99_us"`
	Max int64 `json:"max_us"`
}

// Durations counts durations in microseconds, rounded to significantBits, so that memory
// use does not grow with their number.
type Durations struct {
	Count   int
	Max     int64
	buckets [][]int // by magnitude, then by the bits after the first
}

// significantBits is the precision of a duration: the error is at most 0.1 %, and durations
// below a millisecond are exact.
const significantBits = 10

const bucketSize = 1 << (significantBits - 1)

// add counts a duration. A negative one, which only a forged record has, counts as 0.
func (d *Durations) add(us int64) {
	us = max(us, 0)
	d.Count++
	d.Max = max(d.Max, us)
	magnitude, rest := bucketOf(us)
	for len(d.buckets) <= magnitude {
		d.buckets = append(d.buckets, nil)
	}
	if d.buckets[magnitude] == nil {
		d.buckets[magnitude] = make([]int, bucketSize)
	}
	d.buckets[magnitude][rest]++
}

func bucketOf(us int64) (magnitude, rest int) {
	if us < bucketSize {
		return 0, int(us)
	}
	magnitude = bits.Len64(uint64(us)) - significantBits + 1
	return magnitude, int(us>>(magnitude-1)) - bucketSize
}

// middle returns the duration that represents a bucket.
func middle(magnitude, rest int) int64 {
	if magnitude == 0 {
		return int64(rest)
	}
	width := int64(1) << (magnitude - 1)
	return int64(rest+bucketSize)*width + width/2
}

// Each calls do with each rounded duration and its count, shortest first.
func (d *Durations) Each(do func(us int64, count int)) {
	for magnitude, bucket := range d.buckets {
		for rest, n := range bucket {
			if n > 0 {
				do(min(middle(magnitude, rest), d.Max), n)
			}
		}
	}
}

// Latency computes percentiles by the nearest rank: the smallest duration that is not
// exceeded by the given percentage of durations.
func (d *Durations) Latency() Latency {
	l := Latency{Max: d.Max}
	seen := 0
	d.Each(func(us int64, count int) {
		for percent, at := range map[int]*int64{50: &l.P50, 95: &l.P95, 99: &l.P99} {
			if rank := (percent*d.Count + 99) / 100; seen < rank && rank <= seen+count {
				*at = us
			}
		}
		seen += count
	})
	return l
}

// merge adds the counts of other.
func (d *Durations) merge(other *Durations) {
	d.Count += other.Count
	d.Max = max(d.Max, other.Max)
	for magnitude, bucket := range other.buckets {
		for len(d.buckets) <= magnitude {
			d.buckets = append(d.buckets, nil)
		}
		if bucket == nil {
			continue
		}
		if d.buckets[magnitude] == nil {
			d.buckets[magnitude] = make([]int, bucketSize)
		}
		for rest, n := range bucket {
			d.buckets[magnitude][rest] += n
		}
	}
}
