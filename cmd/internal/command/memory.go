package command

import "runtime/debug"

// gcPercent lets the garbage collector run less often than usual: a request allocates little that lives long, and much
// of its time would go into collecting what the one before it left.
const gcPercent = 300

// BoundMemory configures the garbage collector of a server or a hook, unless the user's environment does: it runs rarely below a
// limit in bytes, and often above it.
func BoundMemory(lookup func(string) (string, bool), limit int64) {
	if _, set := lookup("GOGC"); !set {
		debug.SetGCPercent(gcPercent)
	}
	if _, set := lookup("GOMEMLIMIT"); !set {
		debug.SetMemoryLimit(limit)
	}
}
