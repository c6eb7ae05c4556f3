package runnerfsm

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
)

// maxLine is the longest line that is read. Clients put whole results on one
// line; what is longer than this is passed through, but not understood.
const maxLine = 64 << 20

// lines hands every complete line written to it on, without its newline.
type lines struct {
	take    func(line []byte)
	partial []byte
	skip    bool // the line so far was too long: drop the rest of it too
}

func (l *lines) Write(p []byte) (int, error) {
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

// keep keeps the beginning of a line.
func (l *lines) keep(p []byte) {
	if l.skip || len(l.partial)+len(p) > maxLine {
		l.partial, l.skip = nil, true
		return
	}
	l.partial = append(l.partial, p...)
}

func (l *lines) complete(line []byte) {
	l.keep(line)
	if !l.skip {
		l.take(l.partial)
	}
	l.partial, l.skip = l.partial[:0], false
}

// End hands on a last line without newline.
func (l *lines) End() {
	if len(l.partial) > 0 {
		l.complete(nil)
	}
}

// tap reads the lines of what is passed through it.
type tap struct {
	lines
	through io.Writer    // nil: nothing is passed on as it is
	failed  func() error // why to take no more; nil: nothing is a reason
	ended   func()       // nil: nobody asks
}

func (t *tap) End() {
	t.lines.End()
	if t.ended != nil {
		t.ended()
	}
}

func (t *tap) Write(p []byte) (int, error) {
	if t.through != nil {
		_, _ = t.through.Write(p)
	}
	n, err := t.lines.Write(p)
	if t.failed != nil {
		err = t.failed()
	}
	return n, err
}

// output is a writer that remembers that it failed, for those who cannot say so.
// After that nothing is written: a gap would be worse than an end.
type output struct {
	w io.Writer

	mu  sync.Mutex
	err error
}

func (o *output) Write(p []byte) (int, error) {
	if err := o.failed(); err != nil {
		return 0, err
	}
	n, err := o.w.Write(p)
	o.mu.Lock() // not while it writes, which may last
	defer o.mu.Unlock()
	o.err = err
	return n, err
}

func (o *output) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// decode reads one event, and says whether the line is JSON at all. A field of
// another type than expected is left out: clients change, and what can still be
// read of them should be.
func decode(line []byte, event any) bool {
	err := json.Unmarshal(line, event)
	var mismatch *json.UnmarshalTypeError
	return err == nil || errors.As(err, &mismatch)
}

// oneLine puts joined errors on one line.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
