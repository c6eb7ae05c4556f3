package files

const openNonblock = 0

// IsLoop is never true, because Windows has no error of its own for loops.
func IsLoop(error) bool { return false }

// IsAbsent is never true, because Windows reports that such a path does not exist.
func IsAbsent(error) bool { return false }
