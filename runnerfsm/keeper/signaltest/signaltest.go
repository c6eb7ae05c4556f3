// Package signaltest is for tests that send signals to programs they start.
package signaltest

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// Tests are a package's tests, run so that the programs they start hear signals,
// although this process was started to ignore them: by nohup, or in the background
// of a script. What a process catches, its children have the default for.
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
