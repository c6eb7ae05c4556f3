package proxy

import (
	"errors"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// background detaches a process from the console.
func background(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

// NotRunning reports whether an error of [Ask] means that nothing listens there.
func NotRunning(err error) bool { return errors.Is(err, windows.WSAECONNREFUSED) }
