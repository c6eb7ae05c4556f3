package runcmd

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"mcp-pruner/runnerfsm/keeper"
)

// signalGrace is how long a signal may come after the context it cancelled: who
// watches for signals is told in no fixed order.
const signalGrace = 100 * time.Millisecond

// watchSignals returns the signals that ask this process to end. A context that
// ends for another reason counts as SIGTERM. From the second one on they are not
// caught any more: the next ends this process, whatever it may be waiting for, and
// the keeper sees to the rest.
func watchSignals(ctx context.Context) (signals <-chan os.Signal, stop func()) {
	keeper.IgnoreQuit()
	notify, passed := make(chan os.Signal, 4), make(chan os.Signal, 4)
	caught := keeper.EndSignals()
	signal.Notify(notify, caught...)
	stopped := make(chan struct{})
	go func() {
		var late <-chan time.Time
		told := false
		done := ctx.Done()
		for {
			select {
			case s := <-notify:
				done, late = nil, nil
				pass(passed, s)
				if told {
					signal.Reset(caught...)
				}
				told = true
			case <-done:
				done, late = nil, time.After(signalGrace)
			case <-late:
				late = nil
				pass(passed, syscall.SIGTERM)
			case <-stopped:
				return
			}
		}
	}()
	return passed, func() {
		signal.Stop(notify)
		close(stopped)
	}
}

// pass drops what nobody takes: the run is over, or was told often enough.
func pass(to chan<- os.Signal, s os.Signal) {
	select {
	case to <- s:
	default:
	}
}
