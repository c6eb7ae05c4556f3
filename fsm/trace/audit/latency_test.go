package audit

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func latencyOf(times ...int64) Latency {
	var d Durations
	for _, us := range times {
		d.add(us)
	}
	return d.Latency()
}

func TestLatencyIsTheNearestRank(t *testing.T) {
	var d Durations
	for us := range 1000 {
		d.add(int64(us + 1))
	}
	assert.Equal(t, Latency{P50: 500, P95: 950, P99: 990, Max: 1000}, d.Latency())
	assert.Equal(t, Latency{7, 7, 7, 7}, latencyOf(7))
	assert.Equal(t, Latency{7, 9, 9, 9}, latencyOf(9, 7), "half of two is one")
	assert.Equal(t, Latency{2, 3, 3, 3}, latencyOf(3, 1, 2))
	assert.Equal(t, Latency{}, latencyOf())
}

// Percentiles are within 0.1 % of the exact values for any durations.
func TestLatencyIsNearlyExact(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	times := make([]int64, 10_000)
	for i := range times {
		times[i] = random.Int64N(1 << random.IntN(42))
	}
	l := latencyOf(times...)
	slices.Sort(times)
	assert.InEpsilon(t, times[4999], l.P50, .001)
	assert.InEpsilon(t, times[9499], l.P95, .001)
	assert.InEpsilon(t, times[9899], l.P99, .001)
	assert.Equal(t, times[9999], l.Max)
}
