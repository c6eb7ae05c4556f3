//go:build unix

package files

import (
	"errors"
	"syscall"
)

// openNonblock makes an open return at once, even if a FIFO replaced the file after it was checked.
const openNonblock = syscall.O_NONBLOCK

// IsLoop reports whether the error is that a path leads through too many symbolic links.
func IsLoop(err error) bool { return errors.Is(err, syscall.ELOOP) }

// IsAbsent reports whether the error is that a path cannot exist, because it is below a file or a name is too long.
func IsAbsent(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}
