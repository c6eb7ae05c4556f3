package trace

import (
	"os"
	"syscall"
)

// reserve gives an empty file a size of which the disk has every byte. Linux need not write them, but not every file system can
// do without, and a signal may interrupt it.
func reserve(f *os.File, size int) error {
	if syscall.Fallocate(int(f.Fd()), 0, 0, int64(size)) == nil {
		return nil
	}
	return writeZeros(f, size)
}
