//go:build unix

package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes the child the leader of its own session and so of its own process group. One signal then reaches
// everything it starts, and a program that asks for a password finds no terminal and fails instead of waiting.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	DieWithParent(cmd.SysProcAttr)
}

// Signal signals the leader's group first, and then the processes that left it.
func (f family) Signal(s syscall.Signal) {
	_ = syscall.Kill(-f.leader, s)
	for _, pid := range f.strays() {
		_ = syscall.Kill(pid, s)
	}
}

// ExitCode returns the code that a shell would report: 128 + n for signal n.
func ExitCode(state *os.ProcessState) int {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return state.ExitCode()
}

// readNow reads the present content of a pipe, without waiting for more.
func readNow(f *os.File, buf []byte) int {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0
	}
	n := 0
	_ = raw.Read(func(fd uintptr) bool {
		n, _ = syscall.Read(int(fd), buf)
		return true
	})
	return max(n, 0)
}

// IsUnusable reports whether the error means that a program cannot be run here at all.
func IsUnusable(err error) bool {
	return errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.ENOEXEC)
}
