package trace

import (
	"errors"
	"os"
	"syscall"
)

// reserve gives an empty file a size of which the disk has every byte. Linux need not write them.
func reserve(f *os.File, size int) error {
	err := syscall.Fallocate(int(f.Fd()), 0, 0, int64(size))
	if errors.Is(err, errors.ErrUnsupported) {
		return writeZeros(f, size)
	}
	return err
}
