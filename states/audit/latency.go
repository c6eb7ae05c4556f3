package audit

import "math/bits"

// Latency is in microseconds.
type Latency struct {
	P50 int64 `json:"p50_us"`
	P95 int64 `json:"p95_us"`
	P99 int64 `json:"p99_us"`
	Max int64 `json:"max_us"`
}

// Durations counts durations in microseconds, rounded to significantBits, so that any
// number of them takes the same memory.
type Durations struct {
	Count   int
	Max     int64
	buckets [][]int // by magnitude, then by the bits below the first
}

// significantBits are kept of a duration: it is off by 0.1 % at most, and those under
// a millisecond are exact.
const significantBits = 10

const bucketSize = 1 << (significantBits - 1)

// add counts a duration. Negative ones, which only a forged record has, count as 0.
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

// middle is the duration that stands for a bucket.
func middle(magnitude, rest int) int64 {
	if magnitude == 0 {
		return int64(rest)
	}
	width := int64(1) << (magnitude - 1)
	return int64(rest+bucketSize)*width + width/2
}

// Each goes through the durations, rounded, from the shortest, and how often each was
// counted.
func (d *Durations) Each(do func(us int64, count int)) {
	for magnitude, bucket := range d.buckets {
		for rest, n := range bucket {
			if n > 0 {
				do(min(middle(magnitude, rest), d.Max), n)
			}
		}
	}
}

// Latency picks percentiles by the nearest rank: the least duration that so many per
// cent do not exceed.
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

// merge adds what other has counted.
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
