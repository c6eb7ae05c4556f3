//go:build unix

package trace

import (
	"os"
	"syscall"
)

// mapFile maps the first size bytes of a file into shared memory. Bytes stored there belong
// to the kernel at once, and so survive the process.
func mapFile(f *os.File, size int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

func unmapFile(mem []byte) error { return syscall.Munmap(mem) }
