//go:build unix

package connect

import (
	"os"
	"syscall"
)

// writeNow writes as much as fits into the pipe at the moment. It returns the number of bytes written.
func writeNow(pipe *os.File, b []byte) int {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return 0
	}
	n := 0
	_ = raw.Write(func(fd uintptr) bool {
		n, _ = syscall.Write(int(fd), b) // an error recurs when the rest is written
		return true
	})
	return max(n, 0)
}
