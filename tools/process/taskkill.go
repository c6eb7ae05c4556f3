package process

import (
	"strconv"
	"syscall"
)

// endTree signals a process and its descendants on Windows. It can only kill, because Windows has no signal that a
// shell would pass on.
func endTree(leader int, s syscall.Signal, run func(name string, args ...string) error) {
	if s == syscall.SIGKILL {
		_ = run("taskkill", "/T", "/F", "/PID", strconv.Itoa(leader)) // fails if the process has just ended
	}
}
