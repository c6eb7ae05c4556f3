package runnerfsm

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
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
		l.end(line)
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

func (l *lines) end(line []byte) {
	l.keep(line)
	if !l.skip {
		l.take(l.partial)
	}
	l.partial, l.skip = l.partial[:0], false
}

// flush hands on a last line without newline.
func (l *lines) flush() {
	if len(l.partial) > 0 {
		l.end(nil)
	}
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
