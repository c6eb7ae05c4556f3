//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package fsm

import (
	"os"
	"syscall"
)

// lockFile waits for the lock on a file. It ends with the process, too.
func lockFile(f *os.File) (unlock func(), err error) {
	fd := int(f.Fd())
	if err := syscall.Flock(fd, syscall.LOCK_EX); err != nil {
		return nil, err
	}
	return func() { _ = syscall.Flock(fd, syscall.LOCK_UN) }, nil
}
