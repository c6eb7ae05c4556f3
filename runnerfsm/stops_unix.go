//go:build unix

package runnerfsm

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"mcp-pruner/runnerfsm/keeper"
)

// watchStops catches Ctrl-Z and its end.
func watchStops() chan os.Signal {
	stops := make(chan os.Signal, 2)
	signal.Notify(stops, syscall.SIGTSTP, syscall.SIGCONT)
	return stops
}

// stopGrace is how long the end of a stop may take to be heard of. A run that heard
// of none by then was not stopped.
const stopGrace = 100 * time.Millisecond

// passStops stops the client when the run is stopped and lets it go on when the run
// does: the terminal only reaches the run's own process group. Whether the run stops
// is the kernel's to say: nothing would continue one without a shell that watches
// over it (setsid), and then the client goes on too.
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
				stopSelf()
				unstopped = time.After(stopGrace)
			}
		case <-unstopped:
			unstopped = nil
			kept.Forward(syscall.SIGCONT)
		}
	}
}

// stopSelf sends SIGTTIN, which does what SIGTSTP would if we did not catch it: it
// stops, but not what nobody would continue. SIGTSTP itself is no longer to be had:
// signal.Reset leaves Go's handler in place, which drops it.
func stopSelf() { _ = syscall.Kill(os.Getpid(), syscall.SIGTTIN) }
