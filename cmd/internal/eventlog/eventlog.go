// Package eventlog takes log events without ever making a request wait: they are
// encoded and written by a goroutine of their own, and a client that does not read
// our standard error cannot stop the server.
package eventlog

import (
	"bytes"
	"io"
	"sync"
	"time"

	"mcp-pruner/fsm"
	"mcp-pruner/fsm/event"
)

const (
	// capacity bounds the events that wait to be written.
	capacity = 1 << 15
	// gather is how long the first event of a burst waits for others: one write
	// for all of them costs a request less than one for each.
	gather = 20 * time.Millisecond
)

// Format is how events are written down.
type Format string

// The formats.
const (
	JSON Format = "json" // the log's schema
	Text Format = "text" // for people
)

// Log is the event log of a process.
type Log struct {
	out    io.Writer
	least  event.Level
	format Format
	run    string // id of the run that the process belongs to

	mu      sync.Mutex
	filled  *sync.Cond
	waiting []entry
	dropped int
	closed  bool
	closing chan struct{}
	done    chan struct{}
}

// entry is an event and when it happened.
type entry struct {
	at    time.Time
	event event.Event
}

// New starts a log that writes events of at least the given level to w as JSON.
// Close ends it.
func New(w io.Writer, least event.Level) *Log { return NewAs(JSON, w, least) }

// NewAs is New in another format.
func NewAs(format Format, w io.Writer, least event.Level) *Log {
	l := &Log{out: w, least: least, format: format, closing: make(chan struct{}), done: make(chan struct{})}
	l.filled = sync.NewCond(&l.mu)
	go l.drain()
	return l
}

// InRun says which run the process belongs to; its id stands in every line from now on.
func (l *Log) InRun(id string) *Log {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.run = id
	return l
}

// Emit takes one event. It never blocks on the other end and never fails: when
// too many events wait, it is dropped and counted.
func (l *Log) Emit(e event.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.waiting) == capacity {
		l.dropped++
		return
	}
	e.RunID = l.run
	l.waiting = append(l.waiting, entry{time.Now(), e})
	if len(l.waiting) == 1 {
		l.filled.Signal()
	}
}

// Close writes what is left, for no longer than the given time.
func (l *Log) Close(patience time.Duration) {
	l.mu.Lock()
	l.closed = true
	close(l.closing)
	l.filled.Signal()
	l.mu.Unlock()
	select {
	case <-l.done:
	case <-time.After(patience):
	}
}

// drain writes what has gathered in one piece, again and again.
func (l *Log) drain() {
	defer close(l.done)
	var lines bytes.Buffer
	encode := event.NewLogAt(&lines, l.least)
	if l.format == Text {
		encode = event.NewTextLogAt(&lines, l.least)
	}
	var spare []entry
	for {
		batch, ok := l.next(spare)
		if !ok {
			return
		}
		for i := range batch {
			encode(batch[i].at, batch[i].event)
			batch[i] = entry{} // lets go of what the event holds
		}
		_, _ = lines.WriteTo(l.out) // nobody is left to be told
		lines.Reset()
		spare = batch[:0]
	}
}

// next waits for events, lets more of them gather, and takes them all, leaving
// spare to be filled.
func (l *Log) next(spare []entry) ([]entry, bool) {
	l.wait()
	select {
	case <-time.After(gather):
	case <-l.closing:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	batch := l.waiting
	l.waiting = spare
	if l.dropped > 0 {
		batch = append(batch, entry{time.Now(), event.New("mcp_pruner.log_dropped", "", fsm.Facts{"lines": l.dropped})})
		l.dropped = 0
	}
	return batch, len(batch) > 0
}

func (l *Log) wait() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.waiting) == 0 && !l.closed {
		l.filled.Wait()
	}
}
