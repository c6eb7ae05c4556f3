// Package eventlog writes log lines without ever making a request wait: a client
// that does not read our standard error must not be able to stop the server.
package eventlog

import (
	"io"
	"sync"
	"time"
)

// capacity bounds the lines that wait to be written, in bytes.
const capacity = 4 << 20

// Writer hands lines to a goroutine of its own, which writes what has gathered
// in one piece. When the other end does not read and the buffer is full, lines
// are dropped, and their number is told to Dropped before the next line goes out.
type Writer struct {
	Dropped func(lines int) []byte // makes the line that says so; nil: silence

	mu      sync.Mutex
	filled  *sync.Cond
	waiting []byte
	dropped int
	closed  bool
	done    chan struct{}
}

// New starts a writer to w. Close ends it.
func New(w io.Writer) *Writer {
	l := &Writer{done: make(chan struct{})}
	l.filled = sync.NewCond(&l.mu)
	go l.drain(w)
	return l
}

// Write takes one line. It never blocks on the other end and never fails.
func (l *Writer) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || len(l.waiting)+len(line) > capacity {
		l.dropped++
		return len(line), nil
	}
	l.waiting = append(l.waiting, line...)
	l.filled.Signal()
	return len(line), nil
}

// Close writes what is left, for no longer than the given time.
func (l *Writer) Close(patience time.Duration) {
	l.mu.Lock()
	l.closed = true
	l.filled.Signal()
	l.mu.Unlock()
	select {
	case <-l.done:
	case <-time.After(patience):
	}
}

func (l *Writer) drain(w io.Writer) {
	defer close(l.done)
	var spare []byte
	for {
		batch, ok := l.next(spare)
		if !ok {
			return
		}
		_, _ = w.Write(batch) // nobody is left to be told
		spare = batch[:0]
	}
}

// next waits for lines and takes them all, leaving spare to be filled.
func (l *Writer) next(spare []byte) ([]byte, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.waiting) == 0 && !l.closed {
		l.filled.Wait()
	}
	batch := l.waiting
	l.waiting = spare
	if l.dropped > 0 && l.Dropped != nil {
		batch = append(batch, l.Dropped(l.dropped)...)
		l.dropped = 0
	}
	return batch, len(batch) > 0
}
