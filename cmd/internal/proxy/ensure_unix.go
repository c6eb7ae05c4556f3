//go:build unix

package proxy

import (
	"errors"
	"os/exec"
	"syscall"
)

// background detaches a process from the terminal and from the process group that a client may end.
func background(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// NotRunning reports whether an error of [Ask] means that nothing listens there.
func NotRunning(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
