package fsm

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"time"
)

const (
	// logCapacity is the maximum number of events that wait to be written.
	logCapacity = 1 << 15
	// logGather is how long the first event of a burst waits for others. One write for all of them costs less time than
	// one for each.
	logGather = 20 * time.Millisecond
	// logPatience is the longest time that Sync waits.
	logPatience = 100 * time.Millisecond
)

// LogFormat is the format of the written events.
type LogFormat string

const (
	LogJSON LogFormat = "json" // one JSON object a line, with the log's schema
	LogText LogFormat = "text" // for people
)

// EventLog is the event log of a process.
type EventLog struct {
	out    io.Writer
	least  Level
	format LogFormat
	run    string // id of the run that the process belongs to

	mu      sync.Mutex
	filled  *sync.Cond
	waiting []logEntry
	dropped int
	closed  bool
	closing chan struct{}
	done    chan struct{}

	emitted, written uint64        // numbers of events
	hurry            chan struct{} // ends the gathering of a burst
	syncs            []logWaiter
	stalled          bool // a Sync has given up, and nothing was written since
}

// logWaiter is a Sync that waits until the event with a number is written.
type logWaiter struct {
	last    uint64
	written chan struct{}
}

// logEntry is an event with its time.
type logEntry struct {
	at    time.Time
	event Event
}

// NewEventLog starts a log that writes events of at least the given level to w as JSON, until Close.
func NewEventLog(w io.Writer, least Level) *EventLog { return NewEventLogAs(LogJSON, w, least) }

// NewEventLogAs is New in another format.
func NewEventLogAs(format LogFormat, w io.Writer, least Level) *EventLog {
	l := &EventLog{out: w, least: least, format: format, closing: make(chan struct{}), done: make(chan struct{}), hurry: make(chan struct{}, 1)}
	l.filled = sync.NewCond(&l.mu)
	go l.drain()
	return l
}

// InRun sets the id of the run to which the process belongs. Every later line contains it.
func (l *EventLog) InRun(id string) *EventLog {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.run = id
	return l
}

// Emit adds one event. It neither blocks nor fails. If too many events wait, the event is dropped and counted.
func (l *EventLog) Emit(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.waiting) == logCapacity {
		l.dropped++
		return
	}
	e.RunID = l.run
	l.waiting = append(l.waiting, logEntry{time.Now(), e})
	l.emitted++
	if len(l.waiting) == 1 {
		l.filled.Signal()
	}
}

// Sync waits until all events emitted so far are written, at most for patience. If nobody reads the log, one call
// waits for that time, and later ones return at once until the log moves again.
func (l *EventLog) Sync() {
	l.mu.Lock()
	if l.written == l.emitted || l.stalled || l.closed {
		l.mu.Unlock()
		return
	}
	w := logWaiter{l.emitted, make(chan struct{})}
	l.syncs = append(l.syncs, w)
	l.mu.Unlock()
	select {
	case l.hurry <- struct{}{}:
	default:
	}
	timer := time.NewTimer(logPatience)
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
func (l *EventLog) wrote(n uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.written += n
	l.stalled = false
	l.syncs = slices.DeleteFunc(l.syncs, func(w logWaiter) bool {
		if w.last > l.written {
			return false
		}
		close(w.written)
		return true
	})
}

// Close writes the remaining events, but takes no longer than the given time.
func (l *EventLog) Close(limit time.Duration) {
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
func (l *EventLog) drain() {
	defer close(l.done)
	var lines bytes.Buffer
	encode := JSONSinkAt(&lines, l.least)
	if l.format == LogText {
		encode = TextSinkAt(&lines, l.least)
	}
	var spare []logEntry
	for {
		batch, events, ok := l.next(spare)
		if !ok {
			return
		}
		for i := range batch {
			encode(batch[i].at, batch[i].event)
			batch[i] = logEntry{} // so that the event's data can be garbage collected
		}
		_, _ = lines.WriteTo(l.out) // an error cannot be reported anywhere
		lines.Reset()
		spare = batch[:0]
		l.wrote(events)
	}
}

// next waits for events, gives others time to follow, and returns all of them with the number of those that were
// emitted. spare becomes the new buffer.
func (l *EventLog) next(spare []logEntry) (batch []logEntry, events uint64, ok bool) {
	l.wait()
	select {
	case <-time.After(logGather):
	case <-l.hurry:
	case <-l.closing:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	batch = l.waiting
	events = uint64(len(batch))
	l.waiting = spare
	if l.dropped > 0 {
		batch = append(batch, logEntry{time.Now(), NewEvent("mcp_pruner.log_dropped", "", Facts{"lines": l.dropped})})
		l.dropped = 0
	}
	return batch, events, len(batch) > 0
}

func (l *EventLog) wait() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.waiting) == 0 && !l.closed {
		l.filled.Wait()
	}
}
