package files

import "io/fs"

const openNoLink = 0

// ownedByUser is always true: on Windows the folders of a user's profile are closed to other users.
func ownedByUser(fs.FileInfo) bool { return true }

// hasOneName is always true, because Windows does not say how many names a file has without opening it in another way.
func hasOneName(fs.FileInfo) bool { return true }
