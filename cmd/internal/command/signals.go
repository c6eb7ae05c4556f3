package command

import (
	"context"
	"os"
	"os/signal"
)

// Signals returns a context that the first signal ends, with a Signal as its cause, and a channel that the second
// signal closes. After stop, the signals have their usual effect again.
func Signals(parent context.Context, asked ...os.Signal) (ctx context.Context, hurry <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	again, stopped := make(chan struct{}), make(chan struct{})
	received := make(chan os.Signal, 2)
	if len(asked) > 0 { // without arguments, Notify would catch all signals
		signal.Notify(received, asked...)
	}
	go func() {
		defer cancel(context.Canceled)
		select {
		case s := <-received:
			cancel(Signal{s})
		case <-stopped:
			return
		}
		select {
		case <-received:
			close(again)
		case <-stopped:
		}
	}()
	return ctx, again, func() {
		signal.Stop(received)
		close(stopped)
	}
}
