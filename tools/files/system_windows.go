package files

import "io/fs"

const openNonblock, openNoLink = 0, 0

// IsLoop is never true, because Windows has no error of its own for loops.
func IsLoop(error) bool { return false }

// IsAbsent is never true, because Windows reports that such a path does not exist.
func IsAbsent(error) bool { return false }

// ownedByUser is always true: on Windows the folders of a user's profile are closed to other users.
func ownedByUser(fs.FileInfo) bool { return true }

// hasOneName is always true, because Windows does not say how many names a file has without opening it in another way.
func hasOneName(fs.FileInfo) bool { return true }
