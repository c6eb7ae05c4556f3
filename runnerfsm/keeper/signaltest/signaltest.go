// Package signaltest is for tests that send signals to programs they start.
package signaltest

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// Tests runs a package's tests such that the programs they start receive signals, even if
// this process was started with the signals ignored, by nohup or in the background of a
// script. A signal that a process catches has its default action in the process's children.
type Tests struct{ *testing.M }

// Run runs the tests and returns the exit code.
func (t Tests) Run() int {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	return t.M.Run()
}
