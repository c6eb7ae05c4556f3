package runnerfsm

import (
	"bytes"
	"io"
	"sync"
)

// maxClientLine is the maximum length of a line that is parsed, in bytes. Clients put whole
// results on one line. Longer lines are passed through but not parsed.
const maxClientLine = 64 << 20

// lineWriter calls a function with every complete line written to it, without its newline.
type lineWriter struct {
	Take    func(line []byte)
	partial []byte
	skip    bool // the line was too long: drop the rest of it too
}

// Write implements io.Writer.
func (l *lineWriter) Write(p []byte) (int, error) {
	n := len(p)
	for {
		line, rest, complete := bytes.Cut(p, []byte("\n"))
		if !complete {
			l.keep(p)
			return n, nil
		}
		l.complete(line)
		p = rest
	}
}

// keep stores the beginning of a line.
func (l *lineWriter) keep(p []byte) {
	if l.skip || len(l.partial)+len(p) > maxClientLine {
		l.partial, l.skip = nil, true
		return
	}
	l.partial = append(l.partial, p...)
}

func (l *lineWriter) complete(line []byte) {
	l.keep(line)
	if !l.skip {
		l.Take(l.partial)
	}
	l.partial, l.skip = l.partial[:0], false
}

// End passes on a last line without a newline.
func (l *lineWriter) End() {
	if len(l.partial) > 0 {
		l.complete(nil)
	}
}

// clientTap reads the lines of the data passed through it.
type clientTap struct {
	lineWriter
	Through io.Writer    // nil: the data is not passed on
	Failed  func() error // reason to accept no more data; nil: there is never one
	Ended   func()       // nil: not called
}

// End passes on a last line, and reports the end.
func (t *clientTap) End() {
	t.lineWriter.End()
	if t.Ended != nil {
		t.Ended()
	}
}

// Write implements io.Writer.
func (t *clientTap) Write(p []byte) (int, error) {
	if t.Through != nil {
		_, _ = t.Through.Write(p)
	}
	n, err := t.lineWriter.Write(p)
	if t.Failed != nil {
		err = t.Failed()
	}
	return n, err
}

// clientOutput is a writer that remembers its failure, for callers that cannot report it. After a
// failure it writes nothing more: a gap would be worse than an early end.
type clientOutput struct {
	W io.Writer

	mu  sync.Mutex
	err error
}

// Write implements io.Writer.
func (o *clientOutput) Write(p []byte) (int, error) {
	if err := o.Failed(); err != nil {
		return 0, err
	}
	n, err := o.W.Write(p)
	o.mu.Lock() // not held during a write, which may block
	defer o.mu.Unlock()
	o.err = err
	return n, err
}

// Failed returns the failure of a write.
func (o *clientOutput) Failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
