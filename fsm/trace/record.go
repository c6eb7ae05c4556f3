// Package trace keeps records of machines that ended: how one is spelled, read and
// replayed against the table that its machine was made from, and the file that
// records are appended to.
package trace

import (
	"slices"
	"strings"
	"sync"
	"time"

	"mcp-pruner/fsm"
	"mcp-pruner/fsm/event"
)

// SchemaVersion is the version of the form in which records are written. Earlier ones
// are read as well: version 2, which had no seals and a record that amended another,
// and version 1, whose sum was the first 128 bits of the line's SHA-256.
const SchemaVersion = 3

// Record is one finished machine as a trace keeps it: enough to replay it against
// its table, and nothing of what it was about.
type Record struct {
	Schema  int    // version of the line's form; 0 is that of today
	Server  string // version of the program that ran the machine
	Machine string // the table's name
	Table   string // its hash: what the record is to be replayed against

	// The place of the line in the trace; File fills these in.
	Writer string // one process
	Seq    uint64 // 1, 2, 3... of that process
	Prev   string // Link of that process' line before; "" for its first
	Lost   int    // records that could not be written since that line

	Sum  string // checksum of this line
	Link string // what the next line has as Prev; not part of this one

	ID      string
	Amends  bool // takes the place of the line this process wrote for the id before
	Session string
	Client  string
	Tool    string
	Parent  string // the caller's span, as W3C traceparent has it

	Start   time.Time // microseconds are kept
	Steps   []Step
	Outcome string // the last state's name without its prefix
	Pruning []Value
	Bytes   Bytes
	Tokens  Tokens
	Subject string // equal for calls of a session that are about the same thing
	Part    bool   // only some of that thing was asked for
	Detail  *Detail
	Opaque  bool // the answer was another server's, and Raw and Sent are its text view's

	Answer    Answer   // how the answer fared, where it did not go out whole
	Recovered string   // the writer that was killed before it could write this record; another process did
	Process   *Process // in a process' first line
	Ended     *Ended   // of a run
	Seal      *Seal    // on the last line of a batch

	live *fsm.Machine // whose steps stand in front of Steps, and whose metadata is the record's
}

// Answer says how an answer fared.
type Answer string

// What can become of an answer; "" means that it went out whole, or that there was none.
const (
	Unwritten   Answer = "unwritten"   // it was not written completely
	Unconfirmed Answer = "unconfirmed" // the process was killed while it wrote: the client may have it
)

// Process is who writes records.
type Process struct {
	Key  string // public key of the first seal, base64
	PID  int
	Run  string // of the runner that started it; "" when it was started otherwise
	Host string
	User string
	Root string

	Transport string // how its requests came: stdio, http, hook, proxy, gc, or run for a run; "" in earlier records
}

// Ended says how a run let go of its server.
type Ended struct {
	Graceful  bool // the server ended by itself when it was asked to
	Escalated bool // it had to be killed
}

// Step is one transition of a record.
type Step struct {
	From    fsm.State
	Trigger fsm.Trigger
	To      fsm.State
	Row     string   // the design's rows
	Events  []string // names, in the order they were logged
	Micros  int64    // since the machine was made
	Why     string   // the code or reason its events gave, where they gave one

	head string // how it is written up to its time, where that is known
}

// Value is one metadata field, named as the tables name it. It holds a bool, an
// int64 or a string.
type Value struct {
	Field string
	Value any
}

// Bytes says how large the output was.
type Bytes struct {
	Raw  int // the text that would have been answered had nothing been pruned
	Sent int // the text that was answered
	Wire int // the whole message that carried it

	Beside     int // bytes of Raw that are not the output a pruner is given; from version 3 on
	BesideSent int // and of Sent
}

// Tokens is the same in tokens (o200k).
type Tokens struct {
	Raw, Sent int
	Question  int  // what asking for the pruning cost
	Estimated bool // not counted
}

// Detail is what a record holds only when it is asked to.
type Detail struct {
	Question, Path, Command, Pattern string
}

// NewRecord makes the record of a machine, with the last step it is expected to
// take, if any, after those it took.
func NewRecord(m *fsm.Machine, ahead ...Step) Record {
	var r Record
	r.Take(m, ahead...)
	r.Steps = nil
	heads := headsOf(m.Definition())
	for i := range m.Steps() {
		r.Steps = append(r.Steps, heads[m.Steps()[i].Row()].step(&m.Steps()[i]))
	}
	r.Steps = append(r.Steps, ahead...)
	r.eachValue(func(field string, value any) { r.Pruning = append(r.Pruning, Value{field, value}) })
	r.live = nil
	return r
}

// Take makes r what NewRecord makes, but leaves the machine's steps and metadata
// where they are, for File to write them from there: r.Steps holds those ahead.
func (r *Record) Take(m *fsm.Machine, ahead ...Step) {
	d := m.Definition()
	*r = Record{Machine: d.Name(), Table: d.Hash(), ID: m.ID(), Start: m.Started(), live: m, Steps: append(r.Steps[:0], ahead...)}
	switch steps := m.Steps(); {
	case len(ahead) > 0:
		r.Outcome = ahead[len(ahead)-1].To.Short()
	case len(steps) > 0:
		r.Outcome = steps[len(steps)-1].To.Short()
	}
}

// eachValue goes through the record's metadata in the order in which it is written.
func (r *Record) eachValue(do func(field string, value any)) {
	if r.live == nil {
		for _, v := range r.Pruning {
			do(v.Field, v.Value)
		}
		return
	}
	r.live.Metadata(do)
}

// Ahead is the step that a trigger would take now.
func Ahead(m *fsm.Machine, trigger fsm.Trigger) (Step, bool) {
	d := m.Definition()
	at := d.Index(m.State(), trigger)
	if at < 0 {
		return Step{}, false
	}
	s := headsOf(d)[at].Step
	s.Micros = m.Elapsed().Microseconds()
	return s, true
}

// head is what every step by one row has in common.
type head struct {
	Step
	gives bool // an event of the row has a code or reason
}

// heads are those of each definition, by the place of the row.
var heads sync.Map

func headsOf(d *fsm.Definition) []head {
	if known, ok := heads.Load(d); ok {
		return known.([]head)
	}
	list := make([]head, 0, 64)
	for _, row := range d.Rows() {
		h := head{Step: Step{From: row.From, Trigger: row.Trigger, To: row.To, Row: row.Spec, Events: strings.Fields(row.Events)}}
		h.head = string(h.appendHead(nil))
		for _, name := range h.Events {
			schema := event.Lookup(name)
			h.gives = h.gives || slices.Contains(schema.Names, "code") || slices.Contains(schema.Names, "reason")
		}
		list = append(list, h)
	}
	heads.Store(d, list)
	return list
}

func (h *head) step(s *fsm.Step) Step {
	made := h.Step
	made.Micros, made.Why = s.At.Microseconds(), h.why(s)
	return made
}

// why is the code or reason that the step's events gave, where they gave one.
func (h *head) why(s *fsm.Step) string {
	if !h.gives {
		return ""
	}
	for _, e := range s.Events {
		if why := whyOf(e); why != "" {
			return why
		}
	}
	return ""
}

// whyOf is the event's code or reason. What is no plain code is left out: it may
// quote what the request was about.
func whyOf(e event.Event) string {
	for _, field := range []string{"code", "reason"} {
		if s, _ := e.Data[field].(string); IsCode(s) {
			return s
		}
	}
	return ""
}

// IsCode says whether a word is a plain code, like timeout or not_found.
func IsCode(s string) bool {
	return s != "" && len(s) <= 40 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}
