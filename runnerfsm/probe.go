package runnerfsm

import (
	"context"
	"time"
)

// prober checks a server's health repeatedly, with one request at a time.
type prober struct {
	server   *server
	ticker   *time.Ticker
	result   chan error
	asking   bool
	failures int // consecutive failures
}

func newProber(every time.Duration, s *server) *prober {
	return &prober{server: s, ticker: time.NewTicker(every), result: make(chan error, 1)}
}

func (p *prober) tick() <-chan time.Time { return p.ticker.C }

func (p *prober) stop() { p.ticker.Stop() }

// start starts a check, unless one is in progress.
func (p *prober) start(ctx context.Context) {
	if p.asking {
		return
	}
	p.asking = true
	go func() { p.result <- p.server.health(ctx) }() // ends within probeWithin
}

// counted takes the result of a check and returns the number of consecutive failures.
func (p *prober) counted(err error) int {
	p.asking = false
	p.failures++
	if err == nil {
		p.failures = 0
	}
	return p.failures
}
