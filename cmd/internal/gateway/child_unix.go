//go:build unix

package gateway

import (
	"os"
	"syscall"
)

// writeNow writes what a pipe has room for at this moment.
func writeNow(pipe *os.File, b []byte) int {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return 0
	}
	n := 0
	_ = raw.Write(func(fd uintptr) bool {
		n, _ = syscall.Write(int(fd), b) // an error shows when the rest is written
		return true
	})
	return max(n, 0)
}
