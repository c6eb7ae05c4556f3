package files

const openNonblock = 0

// IsLoop is never true: Windows has no error of its own for it.
func IsLoop(error) bool { return false }

// IsAbsent is never true: Windows says that such a path does not exist.
func IsAbsent(error) bool { return false }
