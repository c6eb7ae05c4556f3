package audit

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
)

// Entry is the part of a record that statistics and lists use.
type Entry struct {
	Server, Writer            string
	Run, Transport            string // of the process; set by Records
	Machine, Table            string
	ID, Session, Client, Tool string
	Owner                     string // subject of the request
	Subject                   string
	Part                      bool // the request asked for a part of the subject only

	Start   time.Time
	Path    *Path
	Micros  []int64 // time of each step of the path
	Outcome string
	Why     string // last code given by a step

	Bytes  trace.Bytes
	Tokens trace.Tokens

	attempted, applied bool
	reason, pruneError string
}

// process holds the facts that the first line of a process states for all of its records.
type process struct{ run, transport string }

// Path is a sequence of transitions of a machine. Equal paths have equal keys.
type Path struct {
	Key      string
	Machine  string
	Steps    []trace.Step // without their times
	terminal fsm.State
	prunes   bool // the path contains a call of the pruner
}

// Took returns the time from the first state to the last.
func (e *Entry) Took() time.Duration {
	if len(e.Micros) == 0 {
		return 0
	}
	return time.Duration(e.Micros[len(e.Micros)-1]) * time.Microsecond
}

func (e *Entry) ended() time.Time { return e.Start.Add(e.Took()) }

// IsRequest reports whether the record belongs to a request rather than a run.
func (e *Entry) IsRequest() bool { return strings.HasPrefix(e.Machine, "request") }

// Failed reports whether the client got an error or no answer.
func (e *Entry) Failed() bool {
	return e.IsRequest() && e.Outcome != "responded" && e.Why != "cancelled"
}

// Results of pruning.
const (
	Applied   = "applied"
	Failed    = "failed"
	Cancelled = "cancelled"
	Skipped   = "skipped"
)

// Pruned returns the result of pruning, and the reason why it was skipped or failed. Both
// are empty if the request ended earlier. A cancelled call of the pruner is recognised by
// its step, because it leaves no metadata.
func (e *Entry) Pruned() (result, why string) {
	switch {
	case e.applied:
		return Applied, ""
	case e.attempted:
		return Failed, e.pruneError
	case e.Path.prunes && e.Why == "cancelled":
		return Cancelled, ""
	case e.Path.prunes:
		return Failed, e.Why
	case e.reason != "":
		return Skipped, e.reason
	}
	return "", ""
}

// line is a line of a trace, or a part of a line that holds several records.
type line struct {
	Entry
	file   int // number of its source
	number int

	err   error // why it is not a record, or not one that a table allows
	torn  int   // bytes of an incomplete record
	front bool  // another record follows in the same line
	last  bool  // the line has no newline: it is the last of its file
	blank bool  // there is nothing but white space on the line
	ok    bool  // there is a record

	key        string  // public key, on the first line of a process
	writer     process // also on that line
	recovered  string
	seal       *trace.Seal
	prev, link string
	seq        uint64
	lost       int
}

// reader decodes lines. Each worker has its own.
type reader struct {
	decoder *trace.Decoder
	auditor *auditor // nil: records are not checked
	paths   map[string]*Path
	record  *trace.Record
	key     *[]byte
}

func newReader(a *auditor) reader {
	return reader{trace.NewDecoder(), a, make(map[string]*Path), new(trace.Record), new([]byte)}
}

var opening = []byte(`{"v":`)

// read decodes the first record of a line and returns the rest of the line. A line has one
// record, unless a process could not write its newline: then the next process may write
// directly after a part of a record or a whole one.
func (r reader) read(text []byte, l *line) (rest []byte) {
	if at := bytes.Index(text[1:], opening) + 1; at > 0 { // within a string, every quote is escaped
		l.front = true
		text, rest = text[:at], text[at:]
	}
	err := r.decode(text)
	switch {
	case errors.Is(err, trace.ErrTorn) && !(l.front && bytes.IndexByte(text, 0) >= 0): // after a loss of power a new line begins
		l.torn = len(text)
	case err != nil && l.front:
		l.err = fmt.Errorf("what stands in front of a record is neither one nor the beginning of one: %w", err)
	case err != nil:
		l.err = err
	default:
		l.ok = true
		r.keep(l)
		r.replay(l)
	}
	return rest
}

var (
	errTooLong = fmt.Errorf("the line is longer than %d MiB, and no record is", maxLineBytes>>20)
	errPieces  = fmt.Errorf("more than %d records stand in one line", maxPieces)
)

func (r reader) decode(text []byte) error {
	if len(text) > maxLineBytes {
		return errTooLong
	}
	return r.decoder.Decode(text, r.record)
}

func (r reader) replay(l *line) {
	if r.auditor == nil {
		return
	}
	l.err = r.auditor.check(r.record)
}

// keep copies the data of the record that is needed once the next line has overwritten it.
func (r reader) keep(l *line) {
	rec := r.record
	l.prev, l.link, l.seq, l.lost, l.recovered, l.seal = rec.Prev, rec.Link, rec.Seq, rec.Lost, rec.Recovered, rec.Seal
	if rec.Process != nil {
		l.key, l.writer = rec.Process.Key, process{rec.Process.Run, rec.Process.Transport}
	}
	l.Entry = Entry{
		Server: rec.Server, Writer: rec.Writer, Machine: rec.Machine, Table: rec.Table, ID: rec.ID, Session: rec.Session,
		Client: rec.Client, Tool: rec.Tool, Owner: rec.Owner, Subject: rec.Subject, Part: rec.Part, Start: rec.Start, Outcome: rec.Outcome,
		Bytes: rec.Bytes, Tokens: rec.Tokens, Path: r.path(rec), Micros: make([]int64, len(rec.Steps)),
	}
	for i := range rec.Steps {
		l.Micros[i] = rec.Steps[i].Micros
		if rec.Steps[i].Why != "" {
			l.Why = rec.Steps[i].Why
		}
	}
	for _, v := range rec.Pruning {
		switch v.Field {
		case "attempted":
			l.attempted = v.Value == true
		case "applied":
			l.applied = v.Value == true
		case "reason":
			l.reason, _ = v.Value.(string)
		case "error.code":
			l.pruneError, _ = v.Value.(string)
		}
	}
}

// maxPaths bounds the paths that a reader remembers. A table has a few dozen.
const maxPaths = 10_000

// path returns the record's path, shared with earlier records.
func (r reader) path(rec *trace.Record) *Path {
	key := append((*r.key)[:0], rec.Machine...)
	for i := range rec.Steps {
		key = append(append(key, ' '), rec.Steps[i].From...)
		key = append(append(key, '>'), rec.Steps[i].Trigger...)
	}
	*r.key = key
	if p, ok := r.paths[string(key)]; ok {
		return p
	}
	p := &Path{Key: string(key), Machine: rec.Machine, Steps: make([]trace.Step, len(rec.Steps))}
	for i, s := range rec.Steps {
		p.Steps[i] = trace.Step{From: s.From, Trigger: s.Trigger, To: s.To, Row: s.Row}
		p.terminal = s.To
		p.prunes = p.prunes || s.From == fsm.CallingPruner
	}
	if len(r.paths) == maxPaths {
		clear(r.paths)
	}
	r.paths[p.Key] = p
	return p
}
