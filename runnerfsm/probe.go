package runnerfsm

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// What a run does unless it is told otherwise: a server that refuses, breaks off or fails this many checks in a row is
// unreachable, and one that answers nothing for this time. A server that is only busy answers within it.
const (
	healthEvery       = time.Second
	maxHealthFailures = 3
	healthSilentFor   = 30 * time.Second
)

// healthProber checks a server's health repeatedly, with one request at a time. A request is given
// a long time, because a server under load is slow to answer and yet serves its client.
type healthProber struct {
	server   *serverProcess
	within   time.Duration // time for one request
	ticker   *time.Ticker
	Result   chan error
	cancel   context.CancelFunc // cancels the request in progress; nil: there is none
	Failures int                // consecutive failures
}

// newHealthProber returns a prober that is to be started at every tick. within is the time for one request.
func newHealthProber(every time.Duration, s *serverProcess, within time.Duration) *healthProber {
	return &healthProber{server: s, within: within, ticker: time.NewTicker(every), Result: make(chan error, 1)}
}

// Tick says when the next check is due.
func (p *healthProber) Tick() <-chan time.Time { return p.ticker.C }

// Stop ends the checks. The result of one in progress is dropped.
func (p *healthProber) Stop() {
	p.ticker.Stop()
	if p.cancel != nil {
		p.cancel()
	}
}

// startServer starts a check, unless one is in progress.
func (p *healthProber) Start(ctx context.Context) {
	if p.cancel != nil {
		return
	}
	var silence context.Context
	silence, p.cancel = context.WithTimeoutCause(ctx, p.within, errSilent)
	go func() { // ends with its context
		err := p.server.Health(silence)
		if err != nil && context.Cause(silence) == errSilent {
			err = fmt.Errorf("%w within %v", errSilent, p.within)
		}
		p.Result <- err
	}()
}

// errSilent is the error of a check that had no answer in its time.
var errSilent = errors.New("no answer to /healthz")

// Take takes the result of a check and counts consecutive failures.
func (p *healthProber) Take(err error) {
	p.cancel()
	p.cancel = nil
	p.Failures++
	if err == nil {
		p.Failures = 0
	}
}

// Lost reports whether the server is unreachable by the last Result: the check had no answer
// in its time, or it was one failure too many.
func (p *healthProber) Lost(err error, maxFailures int) bool {
	return errors.Is(err, errSilent) || p.Failures >= maxFailures
}
