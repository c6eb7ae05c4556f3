// Package ledger feeds the store of package contextgc with every answer of a server, and with the results
// that the proxy and the hooks see.
package ledger

import (
	"context"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// waiting is the largest number of entries not stored yet. Further ones are dropped, because a ledger must
// not delay an agent.
const waiting = 1024

// Ledger stores entries in the background, in batches.
type Ledger struct {
	store  contextgc.Ledger
	failed func(error)

	mu      sync.Mutex
	queue   []contextgc.Entry
	usages  []contextgc.Usage
	wake    chan struct{}
	closing chan struct{}
	done    chan struct{}
}

// New returns a Ledger for a store. failed is called for every batch that could not be stored.
func New(store contextgc.Ledger, failed func(error)) *Ledger {
	l := &Ledger{store: store, failed: failed, wake: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{})}
	go l.work()
	return l
}

// Add queues entries.
func (l *Ledger) Add(entries ...contextgc.Entry) {
	l.mu.Lock()
	if room := waiting - len(l.queue); len(entries) > room {
		entries = entries[:max(0, room)]
	}
	l.queue = append(l.queue, entries...)
	l.mu.Unlock()
	l.notify()
}

// AddUsage queues the usage of a model call.
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

// Close stores the queued entries, for at most patience.
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

// flush stores all queued entries.
func (l *Ledger) flush() {
	l.mu.Lock()
	entries, usages := l.queue, l.usages
	l.queue, l.usages = nil, nil
	l.mu.Unlock()
	if len(entries) > 0 {
		if !l.store.Shared() { // a result that a hook has seen, too, is stored once
			if err := SpoolOf(l.store.Name()).Drain(context.Background(), l.store); err != nil {
				l.failed(err)
			}
		}
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

// Observer stores a server's deliveries as segments of a project, after their answers are written.
type Observer struct {
	Store   contextgc.Segments
	Queue   *Ledger // stores them later, so that the connection's next request does not wait for a database; nil: at once, so that none is lost
	CutOnly bool    // what was not cut is not stored
	Project string
	Failed  func(error)
}

// Answering implements states.Observer.
func (Observer) Answering(*states.Delivery) {}

// ownTools lists tools whose results are already in the ledger.
var ownTools = map[string]bool{
	"context_gc_analyze": true, "context_gc_prune": true, "context_gc_pin": true, "context_gc_unpin": true, "context_get": true,
	"context_search": true, "recover_text": true,
}

// Ended implements states.Observer. It skips results that were not sent, because they are in no context.
func (o Observer) Ended(d *states.Delivery) {
	if d.Err != nil || d.Wire == 0 || d.Call == nil || ownTools[d.Tool] || d.Text == "" || o.CutOnly && d.PruneID == "" {
		return
	}
	_, sent, _ := d.Tokens()
	e := contextgc.Entry{Text: d.Text, Segment: contextgc.Segment{
		Subject: d.Owner, Project: o.Project, Session: d.Session, Tool: d.Tool, Tokens: max(sent, tokens.Estimate(d.Text)), Type: typeOf(d), Path: d.Subject.Path,
	}}
	if d.Source.File != "" {
		e.Path = d.Source.File
	}
	if d.Subject.Part {
		e.FirstLine = max(d.Source.FirstLine, 1)
		e.LastLine = e.FirstLine + max(tools.CountLines(d.Text), 1) - 1
	}
	if o.Queue != nil {
		o.Queue.Add(e)
		return
	}
	if _, err := o.Store.Put(context.Background(), e); err != nil {
		o.Failed(err)
	}
}

// typeOf returns the segment's type: code for files and matches, log for all other outputs.
func typeOf(d *states.Delivery) contextgc.Type {
	if d.Source.File != "" || d.Source.Grep {
		return contextgc.Code
	}
	return contextgc.Log
}
