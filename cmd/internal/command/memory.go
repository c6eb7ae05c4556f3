package command

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// gcPercent lets the garbage collector run less often than usual: a request allocates little that lives long, and much
// of its time would go into collecting what the one before it left.
const gcPercent = 300

// BoundMemory configures the garbage collector of a process that works for long, unless the user's environment does. It runs
// rarely below a limit in bytes, and above it when a third was added to what lives.
func BoundMemory(lookup func(string) (string, bool), limit int64) {
	collect(lookup, gcPercent, limit)
	if _, set := lookup("GOMEMLIMIT"); !set {
		runtime.SetFinalizer(newBound(limit), (*bound).follow)
	}
}

// bound is a limit of memory that grows with what is in use: a heap that has no room below its limit is collected without end.
type bound struct {
	least, now int64
	live       []metrics.Sample
}

func newBound(limit int64) *bound {
	return &bound{limit, limit, []metrics.Sample{{Name: "/gc/heap/live:bytes"}}}
}

// follow runs after each collection.
func (b *bound) follow() {
	metrics.Read(b.live)
	if limit := max(b.least, int64(b.live[0].Value.Uint64())*4/3); limit != b.now {
		b.now = limit
		debug.SetMemoryLimit(limit)
	}
	runtime.SetFinalizer(b, (*bound).follow)
}

// Memory of a process that ends soon. Go's collector first runs when 4 MiB times the percentage have been allocated.
const (
	briefPercent = 1600
	briefLimit   = 512 << 20
)

// BoundBriefly configures the garbage collector of a process that ends soon, unless the user's environment does. It first runs
// when the heap has 64 MiB, which a hook rarely reaches: to collect once took an eighth of the processor time for a result of 1 MB.
func BoundBriefly(lookup func(string) (string, bool)) { collect(lookup, briefPercent, briefLimit) }

// tightPercent keeps the heap of a process small that runs beside each server of a client, and allocates little.
const tightPercent = 20

// BoundTightly configures the garbage collector of such a process, unless the user's environment does. There is no limit: a message
// larger than it would be collected again and again.
func BoundTightly(lookup func(string) (string, bool)) { collect(lookup, tightPercent, math.MaxInt64) }

func collect(lookup func(string) (string, bool), percent int, limit int64) {
	if _, set := lookup("GOGC"); !set {
		debug.SetGCPercent(percent)
	}
	if _, set := lookup("GOMEMLIMIT"); !set {
		debug.SetMemoryLimit(limit)
	}
}
