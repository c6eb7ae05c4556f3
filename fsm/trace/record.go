// Package trace keeps records of finished machines: the encoding of a record, its decoding,
// its replay against the table of its machine, and the file to which records are appended.
package trace

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// SchemaVersion is the version of the record format. Versions 1 and 2 are those of programs before the first release.
const SchemaVersion = 3

// Record is one finished machine as it is stored in a trace: enough to replay it against
// its table, but none of the content of the call.
type Record struct {
	Server  string // version of the program that ran the machine
	Machine string // the table's name
	Table   string // hash of the table against which the record is replayed

	// The place of the line in the trace; File fills these in.
	Writer string // id of the process
	Seq    uint64 // number of the line within the process, from 1
	Prev   string // Link of the process's previous line; "" in its first line
	Lost   int    // records since the previous line that could not be written

	Sum  string // checksum of this line
	Link string // the value of Prev in the next line; not part of this line

	ID      string
	Session string
	Client  string
	Tool    string
	Parent  string // the caller's span, in W3C traceparent form
	Owner   string // the subject of the request: who called; "" for the owner of the machine
	User    string // whom the reverse proxy named; it proves nothing

	Start   time.Time // kept to the microsecond
	Steps   []Step
	Outcome string // name of the last state without its prefix
	Pruning []Value
	Bytes   Bytes
	Tokens  Tokens
	Subject string // equal for calls of one session that have the same subject
	Part    bool   // the call asked for a part of the subject only
	Detail  *Detail
	Opaque  bool // the answer came from another server; Raw and Sent measure its text

	Answer    Answer   // why the answer was not delivered whole; "" if it was
	Recovered string   // writer that was killed before it wrote this record, so that another process wrote it
	Process   *Process // only in the first line of a process
	Ended     *Ended   // only in the record of a run
	Seal      *Seal    // only in the last line of a batch

	live *fsm.Machine // its steps precede Steps, and its metadata is the record's
}

// Answer is the fate of an answer that was not delivered whole.
type Answer string

// The values of Answer. "" means that the answer was delivered whole, or that there was
// none.
const (
	Unwritten   Answer = "unwritten"   // not written completely
	Unconfirmed Answer = "unconfirmed" // killed while writing: the client may have it
	Interrupted Answer = "interrupted" // none: the process ended while the call was under way, in the record's last state
)

// Process describes the process that writes records.
type Process struct {
	Key  string // public key of the first seal, base64
	PID  int
	Run  string // id of the run that started the process; "" if there is none
	Host string
	User string
	Root string

	Transport string // of its requests: stdio, http, hook, proxy, gc; run for a run; "" in old records
}

// Ended says how the server of a run ended.
type Ended struct {
	Graceful  bool // the server exited by itself when asked to
	Escalated bool // it had to be killed
}

// Step is one transition of a record.
type Step struct {
	From    fsm.State
	Trigger fsm.Trigger
	To      fsm.State
	Row     string   // rows of the design that it implements
	Events  []string // names, in the order in which they were logged
	Micros  int64    // microseconds since the machine was made
	Why     string   // code or reason given by its events; "" if they gave none

	head string // its encoding up to the time, if already known
}

// Value is one metadata field, named as in the tables: a bool, an int64 or a string.
type Value struct {
	Field string
	Value any
}

// Bytes are the sizes of the output, in bytes.
type Bytes struct {
	Raw  int // text of the answer if nothing had been pruned, cut as the client's own tool would cut it
	Sent int // text of the actual answer
	Wire int // whole message that carried the answer

	Beside     int // Raw without the output that a pruner is given; negative if Raw was cut below it
	BesideSent int // the same part of Sent
}

// Tokens are the sizes of the output in tokens (o200k).
type Tokens struct {
	Raw, Sent int
	Question  int  // tokens the model spent to ask for the pruning
	Estimated bool // the numbers are estimates
}

// Detail holds the fields that a record has only if the trace is configured to keep them.
type Detail struct {
	Question, Path, Command, Pattern string
}

// NewRecord makes the record of a machine from its steps.
func NewRecord(m *fsm.Machine) Record {
	var r Record
	r.Take(m)
	heads := headsOf(m.Definition())
	for i := range m.Steps() {
		r.Steps = append(r.Steps, heads[m.Steps()[i].Row()].step(&m.Steps()[i]))
	}
	r.eachValue(func(field string, value any) { r.Pruning = append(r.Pruning, Value{field, value}) })
	r.live = nil
	return r
}

// Take fills r as NewRecord does, but does not copy the machine's steps and metadata: File
// encodes them from the machine.
func (r *Record) Take(m *fsm.Machine) {
	d := m.Definition()
	*r = Record{Machine: d.Name(), Table: d.Hash(), ID: m.ID(), Start: m.Started(), live: m}
	if steps := m.Steps(); len(steps) > 0 {
		r.Outcome = steps[len(steps)-1].To.Short()
	}
}

// eachValue calls do for each metadata field of the record, in the order of the encoding.
func (r *Record) eachValue(do func(field string, value any)) {
	if r.live == nil {
		for _, v := range r.Pruning {
			do(v.Field, v.Value)
		}
		return
	}
	r.live.Metadata(do)
}

// head is the part that all steps by one row have in common.
type head struct {
	Step
	gives bool // an event of the row has a code or a reason
	sets  []fsm.Assignment
}

// heads caches the heads of each definition, indexed by row.
var heads sync.Map

func headsOf(d *fsm.Definition) []head {
	if known, ok := heads.Load(d); ok {
		return known.([]head)
	}
	list := make([]head, 0, 64)
	for _, row := range d.Rows() {
		h := head{Step: Step{From: row.From, Trigger: row.Trigger, To: row.To, Row: row.Spec, Events: strings.Fields(row.Events)}, sets: row.Assigns()}
		h.head = string(h.appendHead(nil))
		for _, name := range h.Events {
			schema := fsm.LookupEvent(name)
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

// why returns the code or reason that the step's events gave, or "".
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

// whyOf returns the code or reason of an event. A value that is not a plain code is
// omitted, because it may quote the content of the request.
func whyOf(e fsm.Event) string {
	for _, field := range []string{"code", "reason"} {
		if s, _ := e.Data[field].(string); IsCode(s) {
			return s
		}
	}
	return ""
}

// IsCode reports whether a word is a plain code, such as timeout or not_found.
func IsCode(s string) bool {
	return s != "" && len(s) <= 40 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}
