//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package trace

import (
	"errors"
	"os"
	"syscall"
)

// lockFile locks a file, or fails at once if another process holds the lock. The lock is
// released when the process ends.
func lockFile(f *os.File) (unlock func(), err error) {
	fd := int(f.Fd())
	switch err := syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, errLocked
	case err != nil:
		return nil, err
	}
	return func() { _ = syscall.Flock(fd, syscall.LOCK_UN) }, nil
}
