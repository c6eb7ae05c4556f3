//go:build unix

package files

import (
	"errors"
	"syscall"
)

// openNonblock keeps an open from waiting for the other end of a FIFO that took
// the file's place after it was looked at.
const openNonblock = syscall.O_NONBLOCK

// IsLoop says that a path leads through too many symbolic links.
func IsLoop(err error) bool { return errors.Is(err, syscall.ELOOP) }

// IsAbsent covers what cannot exist: below a file, or with too long a name.
func IsAbsent(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}
