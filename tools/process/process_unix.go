//go:build unix

package process

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
)

// ownGroup makes the child the leader of its own session and so of its own process group. One signal then reaches
// everything it starts, and a program that asks for a password finds no terminal and fails instead of waiting.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	DieWithParent(cmd.SysProcAttr)
}

// contain does nothing: here the watcher ends what a command started if this process dies.
func contain(*os.Process) (release func(kill bool)) { return func(bool) {} }

// Signal signals the leader's group first, and then the processes that left it.
func (f family) Signal(s syscall.Signal) {
	_ = syscall.Kill(-f.leader, s)
	for _, pid := range f.strays() {
		_ = syscall.Kill(pid, s)
	}
}

// strays lists the living processes that left the leader's process group, like those started by timeout(1) and by
// shells with job control, or its session, like daemons.
func (f family) strays() (pids []int) {
	for _, l := range Living() {
		if l.Group != f.leader && f.includes(l) {
			pids = append(pids, l.PID)
		}
	}
	return pids
}

// alive reports whether one of the family has not ended. It uses kill(2) only where there is no list of processes,
// because that also finds processes that have ended and that nobody waits for, as in a container without an init
// process.
func (f family) alive() bool {
	if living == nil {
		return GroupAlive(f.leader)
	}
	return slices.ContainsFunc(living(), f.includes)
}

func (f family) includes(l entry) bool {
	return l.Group == f.leader || l.Session == f.leader || f.marked(l.PID)
}

// marked reports whether a process has the family's mark. The environment cannot be read if the process belongs to
// another user or has dropped it.
func (f family) marked(pid int) bool {
	if f.mark == "" {
		return false
	}
	env, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return bytes.Contains(env, []byte(markVariable+"="+f.mark))
}

// Living lists the system's processes except zombies. It returns nil on systems other than Linux.
func Living() []entry {
	if living == nil {
		return nil
	}
	return living()
}

// GroupAlive reports whether a process group has members.
func GroupAlive(leader int) bool { return syscall.Kill(-leader, 0) == nil }

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
