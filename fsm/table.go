// Package fsm holds the product's state machines as data, and the small engine
// that runs them on looplab/fsm.
//
// A [Table] is the readable form: one [Row] per transition, which cites the rows of the
// design that it implements. [Compile] checks a table and turns it into a [Definition].
// Every request and every run is a [Machine] made from a definition, with a looplab/fsm
// instance of its own.
//
// Two similar terms: a trigger moves a machine (looplab calls it an event); an event is a
// structured log line.
//
// An event's schema says which facts it takes. An EventLog writes events without making a request wait: a separate
// goroutine encodes and writes them, so that a client that does not read our standard error cannot stop the server.
package fsm

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// State is a state of a machine, named as in the design.
type State string

// Trigger moves a machine from one state to the next.
type Trigger string

// Row is one transition.
type Row struct {
	From    State // "req:*" stands for every non-terminal state
	Trigger Trigger
	To      State
	Events  string // log events that it emits, in order, separated by spaces
	Sets    string // metadata that it writes: "field=value", or "field" to take the fact of that name
	Spec    string // rows of the design: T is Transitions, E Error Handling, A3 the contract's addition
}

// Table is the readable form of a machine.
type Table struct {
	Name     string // "request", "run"
	Initial  State
	Terminal []State
	Rows     []Row
}

// With returns the table with row inserted before the first row that has the trigger
// before. It derives a machine that visibly is another one plus a row.
func (t Table) With(row Row, before Trigger) Table {
	rows := make([]Row, 0, len(t.Rows)+1)
	placed := false
	for _, r := range t.Rows {
		if r.Trigger == before && !placed {
			rows = append(rows, row)
			placed = true
		}
		rows = append(rows, r)
	}
	t.Rows = rows
	return t
}

// Without returns the table without the rows that implement the given row of the design.
func (t Table) Without(spec string) Table {
	rows := make([]Row, 0, len(t.Rows))
	for _, r := range t.Rows {
		if r.Spec != spec {
			rows = append(rows, r)
		}
	}
	t.Rows = rows
	return t
}

// Assigns parses the row's Sets.
func (r Row) Assigns() []Assignment {
	var sets []Assignment
	for _, word := range strings.Fields(r.Sets) {
		field, value, fixed := strings.Cut(word, "=")
		a := Assignment{Field: field, Fact: !fixed}
		switch {
		case !fixed:
		case value == "true" || value == "false":
			a.Value = value == "true"
		default:
			a.Value = value
		}
		sets = append(sets, a)
	}
	return sets
}

// Short returns the state's name without the machine's prefix.
func (s State) Short() string {
	_, name, found := strings.Cut(string(s), ":")
	if !found {
		return string(s)
	}
	return name
}

// CompareFields orders metadata fields by name, nested ones last.
func CompareFields(x, y string) int {
	nestedX, nestedY := strings.IndexByte(x, '.') >= 0, strings.IndexByte(y, '.') >= 0
	switch {
	case nestedX == nestedY:
		return strings.Compare(x, y)
	case nestedX:
		return 1
	}
	return -1
}

// Hash returns a hash over the rows: any change to a row changes it.
func (t Table) Hash() string {
	h := sha256.New()
	line := func(fields ...string) { _, _ = h.Write([]byte(strings.Join(fields, "\x1f") + "\n")) }
	line(t.Name, string(t.Initial))
	for _, s := range t.Terminal {
		line(string(s))
	}
	for _, r := range t.Rows {
		line(string(r.From), string(r.Trigger), string(r.To), r.Events, r.Sets, r.Spec)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
