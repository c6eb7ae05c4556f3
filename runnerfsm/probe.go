package runnerfsm

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// prober checks a server's health repeatedly, with one request at a time. A request is given
// a long time, because a server under load is slow to answer and yet serves its client.
type prober struct {
	server   *server
	within   time.Duration // time for one request
	ticker   *time.Ticker
	result   chan error
	cancel   context.CancelFunc // cancels the request in progress; nil: there is none
	failures int                // consecutive failures
}

func newProber(every time.Duration, s *server, within time.Duration) *prober {
	return &prober{server: s, within: within, ticker: time.NewTicker(every), result: make(chan error, 1)}
}

func (p *prober) tick() <-chan time.Time { return p.ticker.C }

// stop ends the checks. The result of one in progress is dropped.
func (p *prober) stop() {
	p.ticker.Stop()
	if p.cancel != nil {
		p.cancel()
	}
}

// start starts a check, unless one is in progress.
func (p *prober) start(ctx context.Context) {
	if p.cancel != nil {
		return
	}
	var silence context.Context
	silence, p.cancel = context.WithTimeoutCause(ctx, p.within, errSilent)
	go func() { // ends with its context
		err := p.server.health(silence)
		if err != nil && context.Cause(silence) == errSilent {
			err = fmt.Errorf("%w within %v", errSilent, p.within)
		}
		p.result <- err
	}()
}

// errSilent is the error of a check that had no answer in its time.
var errSilent = errors.New("no answer to /healthz")

// take takes the result of a check and counts consecutive failures.
func (p *prober) take(err error) {
	p.cancel()
	p.cancel = nil
	p.failures++
	if err == nil {
		p.failures = 0
	}
}

// lost reports whether the server is unreachable by the last result: the check had no answer
// in its time, or it was one failure too many.
func (p *prober) lost(err error, maxFailures int) bool {
	return errors.Is(err, errSilent) || p.failures >= maxFailures
}
