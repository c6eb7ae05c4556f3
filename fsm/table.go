// Package fsm holds the product's state machines as data, and the small engine
// that runs them on looplab/fsm.
//
// A [Table] is what a person reads: one [Row] per transition, each naming the
// rows of the design it implements. [Compile] checks a table and turns it into a
// [Definition]; every request and every run is a [Machine] made from one, with a
// looplab/fsm instance of its own.
//
// Two words that are easily mixed up: a trigger moves a machine (looplab calls
// it an event); an event is a structured log line.
package fsm

// State is a state of a machine, spelled as the design spells it.
type State string

// Trigger is what moves a machine from one state to the next.
type Trigger string

// Row is one transition.
type Row struct {
	From    State // "req:*" stands for every non-terminal state
	Trigger Trigger
	To      State
	Events  string // log events it emits, in order, separated by spaces
	Sets    string // what it writes into the metadata: "field=value", or "field" for a fact of that name
	Spec    string // the design's rows it implements: T is Transitions, E is Error Handling, A3 the contract's addition
}

// Table is a machine as a person reads it.
type Table struct {
	Name     string // "request", "run"
	Initial  State
	Terminal []State
	Rows     []Row
}

// With returns the table with row put before the first row that has the given
// trigger: a machine that visibly is another one plus a row.
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

// Without returns the table with the rows that implement the given row of the
// design taken out.
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
