package trace

import (
	"os"
	"syscall"
)

// reserve makes an empty file of the given size, in bytes, and sets the space aside on the disk. Zeros are written only where the
// file system cannot do it without them, or if a signal interrupts it.
func reserve(f *os.File, size int) error {
	if syscall.Fallocate(int(f.Fd()), 0, 0, int64(size)) == nil {
		return nil
	}
	return writeZeros(f, size)
}
