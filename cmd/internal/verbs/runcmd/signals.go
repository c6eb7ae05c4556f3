package runcmd

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper"
)

// signalGrace is the largest delay between the end of a context and the arrival of its signal, because the
// Go runtime delivers a signal to its watchers in no fixed order.
const signalGrace = 100 * time.Millisecond

// watchSignals returns a channel of the signals that ask this process to end. A context that ends for
// another reason counts as SIGTERM. After the second signal they are no longer caught: the third ends this
// process, whatever it is waiting for, and the keeper ends the client.
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

// pass sends a signal, or drops it if the channel is full: then the run has ended or has received enough
// signals.
func pass(to chan<- os.Signal, s os.Signal) {
	select {
	case to <- s:
	default:
	}
}

// passedSignals returns a channel of the signals that ask this process to end, for a client that has the terminal: what it
// does then is its own, and this process ends when it does.
func passedSignals() (signals <-chan os.Signal, stop func()) {
	keeper.IgnoreQuit()
	caught := make(chan os.Signal, 8)
	signal.Notify(caught, keeper.EndSignals()...)
	return caught, func() { signal.Stop(caught) }
}
