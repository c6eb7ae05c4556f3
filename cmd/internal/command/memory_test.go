package command

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestMemoryIsConfigured checks that a process that ends soon collects later than a server, and that the user's environment wins.
func TestMemoryIsConfigured(t *testing.T) {
	oldPercent, oldLimit := debug.SetGCPercent(100), debug.SetMemoryLimit(math.MaxInt64)
	defer func() { debug.SetGCPercent(oldPercent); debug.SetMemoryLimit(oldLimit) }()
	configured := func() (int, int64) { return debug.SetGCPercent(100), debug.SetMemoryLimit(math.MaxInt64) }
	unset := func(string) (string, bool) { return "", false }

	BoundMemory(unset, 1<<30)
	percent, limit := configured()
	assert.Equal(t, gcPercent, percent)
	assert.EqualValues(t, 1<<30, limit)

	BoundBriefly(unset)
	percent, limit = configured()
	assert.Equal(t, 4<<20*briefPercent/100, 64<<20, "the heap at which the collector first runs")
	assert.Equal(t, briefPercent, percent)
	assert.EqualValues(t, briefLimit, limit)

	BoundBriefly(func(string) (string, bool) { return "50", true })
	percent, limit = configured()
	assert.Equal(t, 100, percent)
	assert.Equal(t, int64(math.MaxInt64), limit)
}

// TestTheLimitLeavesRoom checks that a limit below what is in use grows, and that another stays.
func TestTheLimitLeavesRoom(t *testing.T) {
	old := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(old)
	for _, least := range []int64{1, 1 << 50} {
		debug.SetMemoryLimit(least)
		b := newBound(least)
		runtime.GC() // follow runs some time after it
		b.follow()
		runtime.SetFinalizer(b, nil)
		assert.Equal(t, max(least, int64(b.live[0].Value.Uint64())*4/3), debug.SetMemoryLimit(-1))
	}
}
