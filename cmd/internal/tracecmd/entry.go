package tracecmd

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"time"

	"mcp-pruner/fsm"
	"mcp-pruner/fsm/trace"
	"mcp-pruner/states/audit"
)

// entry is what is kept of a line.
type entry struct {
	err   error // why it is no record, or one that no table allows
	torn  int   // bytes of a record that breaks off
	front bool  // another record follows in the same line
	last  bool  // nothing ends the line: it is the last of its file
	ok    bool  // there is a record

	lasting uint64 // of what a record that amends this one has to say again

	schema                     int
	key                        string // of a process' first line
	recovered                  string
	answer                     trace.Answer
	seal                       *trace.Seal
	server, writer, prev, link string
	seq                        uint64
	lost                       int

	machine, table, id, session, client, tool, subject string

	amends  bool
	part    bool // of its subject
	start   time.Time
	path    *path
	micros  []int64 // when each step of the path was taken
	outcome string
	why     string // the last code that a step gave

	attempted, applied bool
	reason, pruneError string
	bytes              trace.Bytes
	tokens             trace.Tokens
}

// path is a way through a machine; equal ways have equal keys.
type path struct {
	key      string
	machine  string
	steps    []trace.Step // without times
	terminal fsm.State
	prunes   bool // it leads through a call of the pruner
}

// took is the time from the first state to the last.
func (e *entry) took() time.Duration {
	if len(e.micros) == 0 {
		return 0
	}
	return time.Duration(e.micros[len(e.micros)-1]) * time.Microsecond
}

func (e *entry) ended() time.Time { return e.start.Add(e.took()) }

// reader turns lines into entries. Each worker has its own.
type reader struct {
	decoder *trace.Decoder
	auditor *audit.Auditor // nil: records are taken as they are
	paths   map[string]*path
	record  *trace.Record
	key     *[]byte
}

func newReader(p *audit.Auditor) reader {
	return reader{trace.NewDecoder(), p, make(map[string]*path), new(trace.Record), new([]byte)}
}

var opening = []byte(`{"v":`)

// lastingSeed is the same for all readers, whose entries are compared.
var lastingSeed = maphash.MakeSeed()

// read makes an entry of a line and returns what of the line is left. There is one
// record in a line, unless a process could not write the end of its line: then the
// next one may write right behind it, behind a piece or a whole record.
func (r reader) read(text []byte, e *entry) (rest []byte) {
	if at := bytes.Index(text[1:], opening) + 1; at > 0 { // no string holds a bare quote
		e.front = true
		text, rest = text[:at], text[at:]
	}
	err := r.decode(text)
	switch {
	case errors.Is(err, trace.ErrTorn) && !(e.front && bytes.IndexByte(text, 0) >= 0): // what follows a loss of power begins a line
		e.torn = len(text)
	case err != nil && e.front:
		e.err = fmt.Errorf("what stands in front of a record is neither one nor the beginning of one: %w", err)
	case err != nil:
		e.err = err
	default:
		e.ok = true
		r.keep(e)
		r.replay(e)
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

func (r reader) replay(e *entry) {
	if r.auditor == nil {
		return
	}
	e.err = r.auditor.Check(r.record)
	var h maphash.Hash
	h.SetSeed(lastingSeed)
	for _, part := range r.decoder.Lasting() {
		_, _ = h.Write(part)
	}
	for _, part := range []string{e.server, e.writer, e.table, e.id} {
		_, _ = h.WriteString(part)
		_ = h.WriteByte(0)
	}
	e.lasting = h.Sum64()
}

func (r reader) keep(e *entry) {
	rec := r.record
	e.server, e.writer, e.prev, e.link, e.seq, e.lost = rec.Server, rec.Writer, rec.Prev, rec.Link, rec.Seq, rec.Lost
	e.schema, e.recovered, e.answer, e.seal = rec.Schema, rec.Recovered, rec.Answer, rec.Seal
	if rec.Process != nil {
		e.key = rec.Process.Key
	}
	e.machine, e.table, e.id, e.session, e.client = rec.Machine, rec.Table, rec.ID, rec.Session, rec.Client
	e.tool, e.subject, e.amends, e.start, e.outcome = rec.Tool, rec.Subject, rec.Amends, rec.Start, rec.Outcome
	e.bytes, e.tokens, e.part = rec.Bytes, rec.Tokens, rec.Part
	e.path = r.path(rec)
	e.micros = make([]int64, len(rec.Steps))
	for i := range rec.Steps {
		e.micros[i] = rec.Steps[i].Micros
		if rec.Steps[i].Why != "" {
			e.why = rec.Steps[i].Why
		}
	}
	for _, v := range rec.Pruning {
		switch v.Field {
		case "attempted":
			e.attempted = v.Value == true
		case "applied":
			e.applied = v.Value == true
		case "reason":
			e.reason, _ = v.Value.(string)
		case "error.code":
			e.pruneError, _ = v.Value.(string)
		}
	}
}

// path finds the record's path among those met before.
func (r reader) path(rec *trace.Record) *path {
	key := append((*r.key)[:0], rec.Machine...)
	for i := range rec.Steps {
		key = append(append(key, ' '), rec.Steps[i].From...)
		key = append(append(key, '>'), rec.Steps[i].Trigger...)
	}
	*r.key = key
	if p, ok := r.paths[string(key)]; ok {
		return p
	}
	p := &path{key: string(key), machine: rec.Machine, steps: make([]trace.Step, len(rec.Steps))}
	for i, s := range rec.Steps {
		p.steps[i] = trace.Step{From: s.From, Trigger: s.Trigger, To: s.To, Row: s.Row}
		p.terminal = s.To
		p.prunes = p.prunes || s.From == fsm.CallingPruner
	}
	r.paths[p.key] = p
	return p
}

// pruned says how pruning went: what it came to, and why it was not done or failed.
// A call of the pruner that was cut short left nothing in the metadata, but a step.
func (e *entry) pruned() [2]string {
	switch {
	case e.applied:
		return [2]string{"applied", ""}
	case e.attempted:
		return [2]string{"failed", e.pruneError}
	case e.path.prunes && e.why == "cancelled":
		return [2]string{"cancelled", ""}
	case e.path.prunes:
		return [2]string{"failed", e.why}
	case e.reason != "":
		return [2]string{"skipped", e.reason}
	}
	return [2]string{"", ""}
}
