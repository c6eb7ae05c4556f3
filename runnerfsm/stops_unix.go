//go:build unix

package runnerfsm

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper"
)

// watchStops catches Ctrl-Z and its end.
func watchStops() chan os.Signal {
	stops := make(chan os.Signal, 2)
	signal.Notify(stops, syscall.SIGTSTP, syscall.SIGCONT)
	return stops
}

// stopGrace is how long SIGCONT may take to arrive after a stop. A run that got none by
// then was not stopped.
const stopGrace = 100 * time.Millisecond

// passStops forwards SIGTSTP and SIGCONT to the client, because the terminal only reaches
// the run's own process group. The kernel decides whether the run itself stops: without a
// shell that could continue it (setsid) it does not, and then the client goes on, too.
func passStops(stops chan os.Signal, kept *keeper.Kept, ended <-chan struct{}) {
	defer signal.Stop(stops)
	var unstopped <-chan time.Time
	for {
		select {
		case <-ended:
			return
		case s := <-stops:
			kept.Forward(s)
			unstopped = nil
			if s == syscall.SIGTSTP {
				keeper.StopSelf()
				unstopped = time.After(stopGrace)
			}
		case <-unstopped:
			unstopped = nil
			kept.Forward(syscall.SIGCONT)
		}
	}
}
