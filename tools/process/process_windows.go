package process

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func (f family) Signal(s syscall.Signal) {
	endTree(f.leader, s, func(name string, args ...string) error { return exec.Command(name, args...).Run() })
}

func (family) alive() bool { return false }

// ExitCode returns the exit code of the process.
func ExitCode(state *os.ProcessState) int { return state.ExitCode() }

// readNow reads nothing. It is not needed where reading has no deadline, see settle.
func readNow(*os.File, []byte) int { return 0 }

// IsUnusable reports whether the error means that a program cannot be run here at all.
func IsUnusable(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}

// startWatcher is nil: on Windows, contain does what the watcher does elsewhere.
var startWatcher func() (io.WriteCloser, error)
