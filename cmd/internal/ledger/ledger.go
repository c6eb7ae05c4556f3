// Package ledger feeds the store of package contextgc: with every answer of a
// server, and with the results that the proxy and the hooks see.
package ledger

import (
	"context"
	"sync"
	"time"

	"mcp-pruner/states"
	"mcp-pruner/tools/contextgc"
	"mcp-pruner/tools/tokens"
)

// waiting bounds the entries that are not stored yet. More are dropped: a ledger
// must not hold up an agent.
const waiting = 1024

// Ledger stores what it is given in the background, in batches.
type Ledger struct {
	store  *contextgc.Store
	failed func(error)

	mu      sync.Mutex
	queue   []contextgc.Entry
	usages  []contextgc.Usage
	wake    chan struct{}
	closing chan struct{}
	done    chan struct{}
}

// New begins to feed a store. failed is told of every batch that could not be
// stored.
func New(store *contextgc.Store, failed func(error)) *Ledger {
	l := &Ledger{store: store, failed: failed, wake: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{})}
	go l.work()
	return l
}

// Add hands over entries.
func (l *Ledger) Add(entries ...contextgc.Entry) {
	l.mu.Lock()
	if room := waiting - len(l.queue); len(entries) > room {
		entries = entries[:max(0, room)]
	}
	l.queue = append(l.queue, entries...)
	l.mu.Unlock()
	l.notify()
}

// AddUsage hands over what a call used.
func (l *Ledger) AddUsage(u contextgc.Usage) {
	l.mu.Lock()
	if len(l.usages) < waiting {
		l.usages = append(l.usages, u)
	}
	l.mu.Unlock()
	l.notify()
}

func (l *Ledger) notify() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Close stores what is left, for a while.
func (l *Ledger) Close(patience time.Duration) {
	close(l.closing)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-l.done:
	case <-timer.C:
	}
}

func (l *Ledger) work() {
	defer close(l.done)
	for {
		select {
		case <-l.wake:
			l.flush()
		case <-l.closing:
			l.flush()
			return
		}
	}
}

// flush stores everything that waits.
func (l *Ledger) flush() {
	l.mu.Lock()
	entries, usages := l.queue, l.usages
	l.queue, l.usages = nil, nil
	l.mu.Unlock()
	if len(entries) > 0 {
		if _, err := l.store.Put(context.Background(), entries...); err != nil {
			l.failed(err)
		}
	}
	for _, u := range usages {
		if err := l.store.AddUsage(context.Background(), u); err != nil {
			l.failed(err)
		}
	}
}

// Observer turns a server's deliveries into segments of a project. It stores each
// after its answer is written, so that a server that ends has lost none.
type Observer struct {
	Store   *contextgc.Store
	Project string
	Failed  func(error)
}

// Answering implements states.Observer.
func (Observer) Answering(*states.Delivery) {}

// ownTools return what is in the ledger already.
var ownTools = map[string]bool{
	"context_gc_analyze": true, "context_gc_prune": true, "context_gc_pin": true, "context_gc_unpin": true, "context_get": true,
	"context_search": true, "recover_text": true,
}

// Ended implements states.Observer. What a client was not sent is in no context.
func (o Observer) Ended(d *states.Delivery) {
	if d.Err != nil || d.Wire == 0 || d.Call == nil || ownTools[d.Tool] || d.Text == "" {
		return
	}
	_, sent, _ := d.Tokens()
	e := contextgc.Entry{Text: d.Text, Segment: contextgc.Segment{
		Project: o.Project, Session: d.Session, Tool: d.Tool, Tokens: max(sent, tokens.Estimate(d.Text)), Type: typeOf(d), Path: d.Subject.Path,
	}}
	if d.Source.File != "" {
		e.Path = d.Source.File
	}
	if d.Subject.Part {
		e.FirstLine = max(d.Source.FirstLine, 1)
		e.LastLine = e.FirstLine + lines(d.Text) - 1
	}
	if _, err := o.Store.Put(context.Background(), e); err != nil {
		o.Failed(err)
	}
}

// typeOf is the segment's type: files and matches are code, everything else that a
// tool prints is a log.
func typeOf(d *states.Delivery) contextgc.Type {
	if d.Source.File != "" || d.Source.Grep {
		return contextgc.Code
	}
	return contextgc.Log
}

func lines(text string) int {
	n := 1
	for i := range len(text) {
		if text[i] == '\n' && i < len(text)-1 {
			n++
		}
	}
	return n
}
