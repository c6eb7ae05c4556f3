//go:build unix

package keeper

import (
	"errors"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// start starts the command from a thread that exists until it has ended, because the kernel treats the end of that thread
// as the end of this process.
func (f *Front) start() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		endWithParent(f.cmd)
		err := f.cmd.Start()
		started <- err
		if err == nil {
			f.follow(f.cmd.Process.Pid)
			f.finish()
		}
	}()
	return <-started
}

// follow waits for the command to end. A command that stops only itself, as some do after Ctrl-Z, stops this process too,
// so that the shell gets its terminal back and can continue both.
func (f *Front) follow(pid int) {
	for {
		var ws syscall.WaitStatus
		_, err := syscall.Wait4(pid, &ws, syscall.WUNTRACED, nil)
		if err == nil && ws.Stopped() {
			var now syscall.WaitStatus // it may have been continued along with this process
			got, _ := syscall.Wait4(pid, &now, syscall.WUNTRACED|syscall.WCONTINUED|syscall.WNOHANG, nil)
			if got != pid || now.Stopped() {
				StopSelf()
				continue
			}
			ws = now
		}
		switch {
		case errors.Is(err, syscall.EINTR), err == nil && (ws.Stopped() || ws.Continued()):
		case err == nil && ws.Signaled():
			f.code = 128 + int(ws.Signal())
			return
		case err == nil:
			f.code = ws.ExitStatus()
			return
		default:
			return // finish reports it
		}
	}
}

// reaped reports whether an error of Wait means that follow had the command's exit status already.
func reaped(err error) bool { return errors.Is(err, syscall.ECHILD) }

// StopSelf sends SIGTTIN. Like an uncaught SIGTSTP it stops this process unless no shell could continue it. SIGTSTP itself
// cannot be used: after signal.Reset, Go's own handler is still in place and drops the signal.
func StopSelf() { _ = syscall.Kill(os.Getpid(), syscall.SIGTTIN) }

// sentByTerminal reports whether a signal is one that a terminal sends, and this process's group is in its foreground.
func sentByTerminal(s os.Signal) bool {
	if s != syscall.SIGINT && s != syscall.SIGQUIT {
		return false
	}
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == syscall.Getpgrp()
}
