//go:build unix

package files

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

const (
	openNonblock = syscall.O_NONBLOCK // an open returns at once, even if a FIFO replaced the file after it was checked
	openNoLink   = syscall.O_NOFOLLOW // the opening of a symbolic link fails
)

// IsLoop reports whether the error is that a path leads through too many symbolic links.
func IsLoop(err error) bool { return errors.Is(err, syscall.ELOOP) }

// IsAbsent reports whether the error is that a path cannot exist, because it is below a file or a name is too long.
func IsAbsent(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}

func ownedByUser(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// hasOneName reports whether no hard link gives a file a second name.
func hasOneName(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink == 1
}
