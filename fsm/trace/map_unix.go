//go:build unix

package trace

import (
	"os"
	"syscall"
)

// mapFile maps the beginning of a file into memory. What is stored there is the
// system's at once and outlives the process.
func mapFile(f *os.File, size int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

func unmapFile(mem []byte) error { return syscall.Munmap(mem) }
