//go:build unix

package files

import (
	"io/fs"
	"os"
	"syscall"
)

// openNoLink makes the opening of a symbolic link fail.
const openNoLink = syscall.O_NOFOLLOW

// ownedByUser reports whether a file belongs to the user of this process.
func ownedByUser(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// hasOneName reports whether no hard link gives a file a second name.
func hasOneName(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink == 1
}
