package process

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// Limits of reading after the process ended.
const (
	drainFor   = 100 * time.Millisecond // to wait for output
	drainBytes = 1 << 20                // maximum number of bytes that are read from a pipe
)

// pump copies one output stream of a child to a writer.
type pump struct {
	read, write *os.File
	done        chan struct{}
	err         error // why reading ended, valid after done

	mu     sync.Mutex
	to     io.Writer
	passed int // number of bytes
}

func newPump(to io.Writer) (*pump, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &pump{read: r, write: w, to: to, done: make(chan struct{})}, nil
}

func (p *pump) abandon() {
	_ = p.read.Close()
	_ = p.write.Close()
}

// run copies until all writers have closed the pipe or finish ends it. If the writer returns an error, the child is
// ended and nothing more is written.
func (p *pump) run(stop context.CancelCauseFunc) {
	defer close(p.done)
	_ = p.write.Close() // the child has its own copy
	buf := make([]byte, 32<<10)
	for {
		n, err := p.read.Read(buf)
		p.pass(buf[:n], stop)
		if err != nil {
			p.err = err
			return
		}
	}
}

func (p *pump) pass(chunk []byte, stop context.CancelCauseFunc) {
	if len(chunk) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.passed += len(chunk)
	if _, err := p.to.Write(chunk); err != nil {
		p.to = io.Discard
		stop(err)
	}
}

// finish ends the pumps of a child that has ended. Everything the child wrote is in the pipes by now. Output of its
// own children is awaited for a moment only.
func finish(pumps ...*pump) {
	bounded := make([]bool, len(pumps))
	for i, p := range pumps {
		bounded[i] = p.read.SetReadDeadline(time.Now().Add(drainFor)) == nil
	}
	for i, p := range pumps {
		if bounded[i] {
			p.stop()
		} else {
			p.settle()
		}
	}
}

// stop ends a pump whose reading has a deadline.
func (p *pump) stop() {
	<-p.done
	if !errors.Is(p.err, os.ErrDeadlineExceeded) {
		_ = p.read.Close()
		return
	}
	_ = p.read.SetReadDeadline(time.Time{})
	p.takeReady()
	// A server that was left running in the background must not die of a closed pipe when it prints its next
	// line, so its output is still read.
	go func() {
		_, _ = io.CopyBuffer(io.Discard, struct{ io.Reader }{p.read}, make([]byte, 4<<10))
		_ = p.read.Close()
	}()
}

// settle ends a pump whose reading has no deadline, as on Windows. It waits until the pump has read nothing for a
// moment, or enough. From then on the pump discards what it reads.
func (p *pump) settle() {
	for before, first := -1, p.count(); before < p.count() && p.count()-first < drainBytes; {
		before = p.count()
		select {
		case <-p.done:
			_ = p.read.Close()
			return
		case <-time.After(drainFor):
		}
	}
	p.mu.Lock()
	p.to = io.Discard
	p.mu.Unlock()
	go func() {
		<-p.done
		_ = p.read.Close()
	}()
}

func (p *pump) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.passed
}

// takeReady passes on the content of the pipe, because on a busy machine the pump may not have read it before the
// deadline.
func (p *pump) takeReady() {
	buf := make([]byte, 32<<10)
	for taken := 0; taken < drainBytes; {
		n := readNow(p.read, buf)
		if n == 0 {
			return
		}
		p.pass(buf[:n], func(error) {})
		taken += n
	}
}
