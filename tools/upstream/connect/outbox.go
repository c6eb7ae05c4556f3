package connect

import (
	"bytes"
	"errors"
	"os"
	"sync"
)

// maxOutbox is the largest number of bytes that wait for a server that does not read its input.
const maxOutbox = 64 << 20

var errOutboxFull = errors.New("it does not read its input")

// outbox is a pipe whose writers never wait. A server that does not read its input must not delay calls to
// it or their cancellation.
type outbox struct {
	patient bool // its only writer waits for room instead

	pipe *os.File
	now  func(*os.File, []byte) int // writeNow

	mu      sync.Mutex
	wake    *sync.Cond
	waiting [][]byte
	size    int
	busy    bool // run is writing
	closed  bool
}

func newOutbox(pipe *os.File) *outbox {
	return startOutbox(pipe, writeNow)
}

func startOutbox(pipe *os.File, now func(*os.File, []byte) int) *outbox {
	o := &outbox{pipe: pipe, now: now}
	o.wake = sync.NewCond(&o.mu)
	go o.run()
	return o
}

// Write implements io.Writer. It keeps a copy of b.
func (o *outbox) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.size > 0 && o.size+len(b) > maxOutbox && !o.closed { // one message alone may be longer
		if !o.patient {
			return 0, errOutboxFull
		}
		o.wake.Wait()
	}
	if o.closed {
		return 0, os.ErrClosed
	}
	rest := b
	if !o.busy && len(o.waiting) == 0 { // usually the pipe has room, and the goroutine need not be woken
		rest = b[o.now(o.pipe, b):]
	}
	if len(rest) > 0 {
		o.waiting = append(o.waiting, bytes.Clone(rest))
		o.size += len(rest)
		o.wake.Broadcast()
	}
	return len(b), nil
}

// Close implements io.Closer. Waiting bytes are still written.
func (o *outbox) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.wake.Broadcast()
	return nil
}

// run writes until the outbox is closed and empty, or the pipe is broken.
func (o *outbox) run() {
	defer o.pipe.Close()
	for {
		next, ok := o.next()
		if !ok {
			return
		}
		if _, err := o.pipe.Write(next); err != nil {
			_ = o.Close()
			return
		}
	}
}

func (o *outbox) next() ([]byte, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.busy = false
	for len(o.waiting) == 0 && !o.closed {
		o.wake.Wait()
	}
	if len(o.waiting) == 0 {
		return nil, false
	}
	next := o.waiting[0]
	o.waiting = o.waiting[1:]
	o.size -= len(next)
	o.wake.Broadcast()
	o.busy = true
	return next, true
}
