package runnerfsm

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
)

// maxLine is the maximum length of a line that is parsed, in bytes. Clients put whole
// results on one line. Longer lines are passed through but not parsed.
const maxLine = 64 << 20

// lines calls a function with every complete line written to it, without its newline.
type lines struct {
	take    func(line []byte)
	partial []byte
	skip    bool // the line was too long: drop the rest of it too
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

// keep stores the beginning of a line.
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

// End passes on a last line without a newline.
func (l *lines) End() {
	if len(l.partial) > 0 {
		l.complete(nil)
	}
}

// tap reads the lines of the data passed through it.
type tap struct {
	lines
	through io.Writer    // nil: the data is not passed on
	failed  func() error // reason to accept no more data; nil: there is never one
	ended   func()       // nil: not called
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

// output is a writer that remembers its failure, for callers that cannot report it. After a
// failure it writes nothing more: a gap would be worse than an early end.
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
	o.mu.Lock() // not held during a write, which may block
	defer o.mu.Unlock()
	o.err = err
	return n, err
}

func (o *output) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// decode parses one event and reports whether the line is JSON at all. A field of an
// unexpected type is skipped: clients change, and the other fields should still be read.
func decode(line []byte, event any) bool {
	err := json.Unmarshal(line, event)
	var mismatch *json.UnmarshalTypeError
	return err == nil || errors.As(err, &mismatch)
}

// oneLine puts joined errors on one line.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
