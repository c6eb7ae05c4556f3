// Package eventlog writes log events without making a request wait. A separate goroutine encodes and writes them, so
// that a client that does not read our standard error cannot stop the server.
package eventlog

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/event"
)

const (
	// capacity is the maximum number of events that wait to be written.
	capacity = 1 << 15
	// gather is how long the first event of a burst waits for others. One write for all of them costs less time than
	// one for each.
	gather = 20 * time.Millisecond
	// patience is the longest time that Sync waits.
	patience = 100 * time.Millisecond
)

// Format is the format of the written events.
type Format string

// The formats.
const (
	JSON Format = "json" // one JSON object a line, with the log's schema
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

	emitted, written uint64        // numbers of events
	hurry            chan struct{} // ends the gathering of a burst
	syncs            []waiter
	stalled          bool // a Sync has given up, and nothing was written since
}

// waiter is a Sync that waits until the event with a number is written.
type waiter struct {
	last    uint64
	written chan struct{}
}

// entry is an event with its time.
type entry struct {
	at    time.Time
	event event.Event
}

// New starts a log that writes events of at least the given level to w as JSON, until Close.
func New(w io.Writer, least event.Level) *Log { return NewAs(JSON, w, least) }

// NewAs is New in another format.
func NewAs(format Format, w io.Writer, least event.Level) *Log {
	l := &Log{out: w, least: least, format: format, closing: make(chan struct{}), done: make(chan struct{}), hurry: make(chan struct{}, 1)}
	l.filled = sync.NewCond(&l.mu)
	go l.drain()
	return l
}

// InRun sets the id of the run to which the process belongs. Every later line contains it.
func (l *Log) InRun(id string) *Log {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.run = id
	return l
}

// Emit adds one event. It neither blocks nor fails. If too many events wait, the event is dropped and counted.
func (l *Log) Emit(e event.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.waiting) == capacity {
		l.dropped++
		return
	}
	e.RunID = l.run
	l.waiting = append(l.waiting, entry{time.Now(), e})
	l.emitted++
	if len(l.waiting) == 1 {
		l.filled.Signal()
	}
}

// Sync waits until all events emitted so far are written, at most for patience. If nobody reads the log, one call
// waits for that time, and later ones return at once until the log moves again.
func (l *Log) Sync() {
	l.mu.Lock()
	if l.written == l.emitted || l.stalled || l.closed {
		l.mu.Unlock()
		return
	}
	w := waiter{l.emitted, make(chan struct{})}
	l.syncs = append(l.syncs, w)
	l.mu.Unlock()
	select {
	case l.hurry <- struct{}{}:
	default:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-w.written:
	case <-l.done:
	case <-timer.C:
		l.mu.Lock()
		l.stalled = true
		l.mu.Unlock()
	}
}

// wrote notes that the next n events are written, and wakes those who wait for them.
func (l *Log) wrote(n uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.written += n
	l.stalled = false
	l.syncs = slices.DeleteFunc(l.syncs, func(w waiter) bool {
		if w.last > l.written {
			return false
		}
		close(w.written)
		return true
	})
}

// Close writes the remaining events, but takes no longer than the given time.
func (l *Log) Close(limit time.Duration) {
	l.mu.Lock()
	l.closed = true
	close(l.closing)
	l.filled.Signal()
	l.mu.Unlock()
	select {
	case <-l.done:
	case <-time.After(limit):
	}
}

// drain repeatedly writes all waiting events with one write.
func (l *Log) drain() {
	defer close(l.done)
	var lines bytes.Buffer
	encode := event.NewLogAt(&lines, l.least)
	if l.format == Text {
		encode = event.NewTextLogAt(&lines, l.least)
	}
	var spare []entry
	for {
		batch, events, ok := l.next(spare)
		if !ok {
			return
		}
		for i := range batch {
			encode(batch[i].at, batch[i].event)
			batch[i] = entry{} // so that the event's data can be garbage collected
		}
		_, _ = lines.WriteTo(l.out) // an error cannot be reported anywhere
		lines.Reset()
		spare = batch[:0]
		l.wrote(events)
	}
}

// next waits for events, gives others time to follow, and returns all of them with the number of those that were
// emitted. spare becomes the new buffer.
func (l *Log) next(spare []entry) (batch []entry, events uint64, ok bool) {
	l.wait()
	select {
	case <-time.After(gather):
	case <-l.hurry:
	case <-l.closing:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	batch = l.waiting
	events = uint64(len(batch))
	l.waiting = spare
	if l.dropped > 0 {
		batch = append(batch, entry{time.Now(), event.New("mcp_pruner.log_dropped", "", fsm.Facts{"lines": l.dropped})})
		l.dropped = 0
	}
	return batch, events, len(batch) > 0
}

func (l *Log) wait() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.waiting) == 0 && !l.closed {
		l.filled.Wait()
	}
}
