package fsm

import (
	"strings"
	"time"
)

// TraceSchema is the version of the form in which records are written. Lines of
// version 1, whose sum was the first 128 bits of their SHA-256, are read as well.
const TraceSchema = 2

// Record is one finished machine as a trace keeps it: enough to replay it against
// its table, and nothing of what it was about.
type Record struct {
	Schema  int    // version of the line's form; 0 is that of today
	Server  string // version of the program that ran the machine
	Machine string // the table's name
	Table   string // its hash: what the record is to be replayed against

	// The place of the line in the trace; TraceFile fills these in.
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

	Start   time.Time // microseconds are kept
	Steps   []TraceStep
	Outcome string // the last state's name without its prefix
	Pruning []Value
	Bytes   TraceBytes
	Tokens  TraceTokens
	Subject string // equal for calls of a session that are about the same thing
	Part    bool   // only some of that thing was asked for
	Detail  *TraceDetail

	live   *Machine // whose steps stand in front of Steps, and whose metadata is the record's
	quotes bool     // metadata that may quote what the request was about is part of it
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
// take, if any, put behind those it took. Metadata that may quote what the request
// was about is left out.
func NewRecord(m *Machine, ahead ...TraceStep) Record {
	var r Record
	r.Take(m, false, ahead...)
	r.Steps = nil
	for i := range m.steps {
		r.Steps = append(r.Steps, m.steps[i].traced())
	}
	r.Steps = append(r.Steps, ahead...)
	r.eachValue(func(field string, value any) { r.Pruning = append(r.Pruning, Value{field, value}) })
	r.live = nil
	return r
}

// Take makes r what NewRecord makes, but leaves the machine's steps and metadata
// where they are, for TraceFile to write them from there: r.Steps holds those
// ahead. With quotes nothing of the metadata is left out.
func (r *Record) Take(m *Machine, quotes bool, ahead ...TraceStep) {
	*r = Record{Machine: m.def.Name(), Table: m.def.hash, ID: m.id, Start: m.started, live: m, quotes: quotes, Steps: append(r.Steps[:0], ahead...)}
	switch {
	case len(ahead) > 0:
		r.Outcome = ahead[len(ahead)-1].To.Short()
	case len(m.steps) > 0:
		r.Outcome = m.steps[len(m.steps)-1].To.Short()
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
	for i, value := range r.live.values {
		if field := r.live.def.fields[i]; value != nil && (r.quotes || !isQuote(field)) {
			do(field, value)
		}
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
	row := s.row
	return TraceStep{
		From: row.From, Trigger: row.Trigger, To: row.To, Row: row.Spec, Events: row.names,
		Micros: s.At.Microseconds(), Why: s.why(), head: row.traced,
	}
}

// why is the code or reason that the step's events gave, where they gave one.
func (s *Step) why() string {
	if !s.row.gives {
		return ""
	}
	for _, e := range s.Events {
		if why := e.why(); why != "" {
			return why
		}
	}
	return ""
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

// Short is a state's name without the machine's prefix.
func (s State) Short() string {
	_, name, found := strings.Cut(string(s), ":")
	if !found {
		return string(s)
	}
	return name
}
