package runnerfsm

import (
	"context"
	"time"
)

// prober asks a server how it is, again and again, one question at a time.
type prober struct {
	server   *server
	ticker   *time.Ticker
	result   chan error
	asking   bool
	failures int // in a row
}

func newProber(every time.Duration, s *server) *prober {
	return &prober{server: s, ticker: time.NewTicker(every), result: make(chan error, 1)}
}

func (p *prober) tick() <-chan time.Time { return p.ticker.C }

func (p *prober) stop() { p.ticker.Stop() }

// start asks, unless a question is under way.
func (p *prober) start(ctx context.Context) {
	if p.asking {
		return
	}
	p.asking = true
	go func() { p.result <- p.server.health(ctx) }() // ends within probeWithin
}

// counted takes an answer and returns the number of failures in a row.
func (p *prober) counted(err error) int {
	p.asking = false
	p.failures++
	if err == nil {
		p.failures = 0
	}
	return p.failures
}
