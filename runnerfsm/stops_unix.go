//go:build unix

package runnerfsm

import (
	"os"
	"os/signal"
	"syscall"

	"mcp-pruner/runnerfsm/keeper"
)

// watchStops catches Ctrl-Z and its end.
func watchStops() chan os.Signal {
	stops := make(chan os.Signal, 2)
	signal.Notify(stops, syscall.SIGTSTP, syscall.SIGCONT)
	return stops
}

// passStops stops the client when the run is stopped and lets it go on when the run
// does: the terminal only reaches the run's own process group.
func passStops(stops chan os.Signal, kept *keeper.Kept, ended <-chan struct{}) {
	defer signal.Stop(stops)
	for {
		select {
		case <-ended:
			return
		case s := <-stops:
			kept.Relay(s)
			if s == syscall.SIGTSTP {
				_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			}
		}
	}
}
