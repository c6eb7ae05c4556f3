package fsm

import (
	"slices"
	"strings"
	"time"
)

// TraceSchema is the version of the form in which records are written.
const TraceSchema = 1

// Record is one finished machine as a trace keeps it: enough to replay it against
// its table, and nothing of what it was about.
type Record struct {
	Server  string // version of the program that ran the machine
	Machine string // the table's name
	Table   string // its hash: what the record is to be replayed against

	// The place of the line in the trace; TraceFile fills these in.
	Writer string // one process
	Seq    uint64 // 1, 2, 3... of that process
	Prev   string // checksum of that process' line before; "" for its first
	Lost   int    // records that could not be written since that line
	Sum    string // checksum of this line

	ID      string
	Amends  bool // takes the place of the line this process wrote for the id before
	Session string
	Client  string
	Tool    string

	Start   time.Time // microseconds are kept
	Steps   []TraceStep
	Outcome string // the last state's name without its prefix
	Pruning []Value
	Bytes   TraceBytes
	Tokens  TraceTokens
	Subject string // equal for calls of a session that are about the same thing
	Part    bool   // only some of that thing was asked for
	Detail  *TraceDetail

	live *Machine // whose steps stand in front of Steps
}

// TraceStep is one transition of a record.
type TraceStep struct {
	From    State
	Trigger Trigger
	To      State
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

// TraceBytes says how large the output was.
type TraceBytes struct {
	Raw  int // the text that would have been answered had nothing been pruned
	Sent int // the text that was answered
	Wire int // the whole message that carried it
}

// TraceTokens is the same in tokens (o200k).
type TraceTokens struct {
	Raw, Sent int
	Question  int  // what asking for the pruning cost
	Estimated bool // not counted
}

// TraceDetail is what a record holds only when it is asked to.
type TraceDetail struct {
	Question, Path, Command, Pattern string
}

// NewRecord makes the record of a machine, with the last step it is expected to
// take, if any, put behind those it took. Metadata holds the values of the fields
// that the rows on its way set; further ones are left out. The record keeps it.
func NewRecord(m *Machine, metadata []Value, ahead ...TraceStep) Record {
	var r Record
	r.Take(m, metadata)
	r.live = nil
	for i := range m.steps {
		r.Steps = append(r.Steps, m.steps[i].traced())
	}
	r.Steps = append(r.Steps, ahead...)
	if n := len(r.Steps); n > 0 {
		r.Outcome = r.Steps[n-1].To.Short()
	}
	return r
}

// Take makes r what NewRecord makes, but leaves the machine's steps where they
// are, for AppendRecord to write them from there: r.Steps holds those ahead.
func (r *Record) Take(m *Machine, metadata []Value, ahead ...TraceStep) {
	*r = Record{Machine: m.def.Name(), Table: m.def.hash, ID: m.id, Start: m.started, live: m, Steps: append(r.Steps[:0], ahead...)}
	r.Pruning = slices.DeleteFunc(metadata, func(v Value) bool { return !m.hasSet(v.Field) })
	switch {
	case len(ahead) > 0:
		r.Outcome = ahead[len(ahead)-1].To.Short()
	case len(m.steps) > 0:
		r.Outcome = m.steps[len(m.steps)-1].To.Short()
	}
}

// Ahead is the step that a trigger would take now.
func (m *Machine) Ahead(trigger Trigger) (TraceStep, bool) {
	row, ok := m.def.compiled[edge{m.State(), trigger}]
	if !ok {
		return TraceStep{}, false
	}
	s := Step{At: m.hooks.Now().Sub(m.started), row: row}
	return s.traced(), true
}

func (s *Step) traced() TraceStep {
	row, t := s.row, s.written()
	t.From, t.Trigger, t.To, t.Row, t.Events = row.From, row.Trigger, row.To, row.Spec, row.names
	return t
}

// written is as much of the step as is needed to write it.
func (s *Step) written() TraceStep {
	row, t := s.row, TraceStep{Micros: s.At.Microseconds(), head: s.row.traced}
	for i := 0; row.gives && i < len(s.Events) && t.Why == ""; i++ {
		t.Why = s.Events[i].why()
	}
	return t
}

// why is the event's code or reason. What is no plain code is left out: it may
// quote what the request was about.
func (e Event) why() string {
	for _, field := range []string{"code", "reason"} {
		if s, _ := e.Data[field].(string); isCode(s) {
			return s
		}
	}
	return ""
}

func isCode(s string) bool {
	return s != "" && len(s) <= 40 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// hasSet says whether a row on the machine's way sets a metadata field.
func (m *Machine) hasSet(field string) bool {
	for i := range m.steps {
		for _, a := range m.steps[i].row.sets {
			if a.field == field {
				return true
			}
		}
	}
	return false
}

// Short is a state's name without the machine's prefix.
func (s State) Short() string {
	_, name, found := strings.Cut(string(s), ":")
	if !found {
		return string(s)
	}
	return name
}
