package fsm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/looplab/fsm"
)

// Definition is a checked table that can make machines. It is immutable.
type Definition struct {
	table    Table
	states   []State
	rows     []Row // with wildcards expanded
	compiled map[edge]*compiledRow
	leaving  map[State][]Trigger
	events   []fsm.EventDesc
	looplab  *fsm.FSM // never fired: New copies it
	fields   []string // metadata fields that rows set, in the order of the encoding
	hash     string
}

// edge identifies a transition in looplab/fsm.
type edge struct {
	from    State
	trigger Trigger
}

type compiledRow struct {
	Row
	at     int // index in the definition's rows
	events []*CompiledSchema
	sets   []setting
}

// Assignment sets one metadata field to a fixed value or to the fact of the same name.
type Assignment struct {
	Field string
	Value any // nil: the fact
	Fact  bool
}

// setting is an assignment with the index of its field in the definition's list.
type setting struct {
	Assignment
	at int
}

// Compile checks a table and makes it ready to run. It refuses tables that looplab/fsm
// would accept silently: two rows for the same state and trigger, a row from a state to
// itself, unknown events, and states that cannot be reached or left.
func Compile(t Table) (*Definition, error) {
	d := &Definition{table: t, compiled: make(map[edge]*compiledRow), leaving: make(map[State][]Trigger), hash: t.Hash()}
	d.states = statesOf(t)
	for _, row := range t.Rows {
		for _, from := range d.expand(row.From) {
			row.From = from
			if err := d.add(row); err != nil {
				return nil, fmt.Errorf("%s table, row %s (%s, %s): %w", t.Name, row.Spec, row.From, row.Trigger, err)
			}
		}
	}
	d.listFields()
	if err := d.checkReach(); err != nil {
		return nil, fmt.Errorf("%s table: %w", t.Name, err)
	}
	d.looplab = fsm.NewFSM(string(t.Initial), d.events, fsm.Callbacks{"enter_state": entered, "after_event": emit})
	return d, nil
}

// MustCompile is Compile for the tables of the program itself; it panics on an error.
func MustCompile(t Table) *Definition {
	d, err := Compile(t)
	if err != nil {
		panic(err)
	}
	return d
}

// Name returns the table's name.
func (d *Definition) Name() string { return d.table.Name }

// Hash returns the table's hash.
func (d *Definition) Hash() string { return d.hash }

// Fields returns the metadata fields that rows set, in the order of the encoding: by name,
// nested ones last.
func (d *Definition) Fields() []string { return slices.Clone(d.fields) }

// Initial returns the state in which every machine starts.
func (d *Definition) Initial() State { return d.table.Initial }

// Rows returns the transitions in the table's order, with wildcards expanded.
func (d *Definition) Rows() []Row { return slices.Clone(d.rows) }

// States returns the states in the order of their first appearance.
func (d *Definition) States() []State  { return slices.Clone(d.states) }
func (d *Definition) Has(s State) bool { return slices.Contains(d.states, s) }

// Terminal reports whether a state is terminal.
func (d *Definition) Terminal(s State) bool { return slices.Contains(d.table.Terminal, s) }

// Leaving returns the triggers that lead out of a state, in the table's order.
func (d *Definition) Leaving(s State) []Trigger { return d.leaving[s] }

// Index returns the index in Rows of the transition from a state by a trigger, or -1 if
// there is none.
func (d *Definition) Index(from State, trigger Trigger) int {
	if r := d.compiled[edge{from, trigger}]; r != nil {
		return r.at
	}
	return -1
}

// Row returns the transition from a state by a trigger, and whether there is one.
func (d *Definition) Row(from State, trigger Trigger) (Row, bool) {
	r, ok := d.compiled[edge{from, trigger}]
	if !ok {
		return Row{}, false
	}
	return r.Row, true
}

// statesOf returns a table's states in the order of their first appearance.
func statesOf(t Table) []State {
	states := []State{t.Initial}
	add := func(s State) {
		if !s.wildcard() && !slices.Contains(states, s) {
			states = append(states, s)
		}
	}
	for _, r := range t.Rows {
		add(r.From)
		add(r.To)
	}
	for _, s := range t.Terminal {
		add(s)
	}
	return states
}

// wildcard reports whether the state stands for every state that is not terminal.
func (s State) wildcard() bool { return strings.HasSuffix(string(s), ":*") }

func (d *Definition) expand(from State) []State {
	if !from.wildcard() {
		return []State{from}
	}
	return slices.DeleteFunc(slices.Clone(d.states), d.Terminal)
}

func (d *Definition) add(row Row) error {
	key := edge{row.From, row.Trigger}
	switch {
	case d.compiled[key] != nil:
		return fmt.Errorf("the state has that trigger already (row %s)", d.compiled[key].Spec)
	case row.From == row.To:
		return fmt.Errorf("a row may not lead back to its own state")
	case d.Terminal(row.From):
		return fmt.Errorf("nothing may lead out of a terminal state")
	}
	c := &compiledRow{Row: row, at: len(d.rows)}
	for _, a := range row.Assigns() {
		c.sets = append(c.sets, setting{Assignment: a})
	}
	for _, name := range strings.Fields(row.Events) {
		schema := LookupEvent(name)
		if schema == nil {
			return fmt.Errorf("unknown event %q", name)
		}
		c.events = append(c.events, schema)
	}
	d.compiled[key] = c
	d.rows = append(d.rows, row)
	d.leaving[row.From] = append(d.leaving[row.From], row.Trigger)
	d.describe(row)
	return nil
}

// listFields collects the metadata fields and gives each its index.
func (d *Definition) listFields() {
	for _, row := range d.compiled {
		for _, s := range row.sets {
			if !slices.Contains(d.fields, s.Field) {
				d.fields = append(d.fields, s.Field)
			}
		}
	}
	slices.SortFunc(d.fields, CompareFields)
	for _, row := range d.compiled {
		for i := range row.sets {
			row.sets[i].at = slices.Index(d.fields, row.sets[i].Field)
		}
	}
}

// describe adds a row to looplab's description, in which rows that differ only in their
// source state are one entry.
func (d *Definition) describe(row Row) {
	for i, e := range d.events {
		if e.Name == string(row.Trigger) && e.Dst == string(row.To) {
			d.events[i].Src = append(e.Src, string(row.From))
			return
		}
	}
	d.events = append(d.events, fsm.EventDesc{Name: string(row.Trigger), Src: []string{string(row.From)}, Dst: string(row.To)})
}

func (d *Definition) checkReach() error {
	reached := map[State]bool{d.table.Initial: true}
	for grew := true; grew; {
		grew = false
		for _, r := range d.rows {
			if reached[r.From] && !reached[r.To] {
				reached[r.To], grew = true, true
			}
		}
	}
	for _, s := range d.states {
		if !reached[s] {
			return fmt.Errorf("state %s cannot be reached", s)
		}
		if !d.Terminal(s) && len(d.leaving[s]) == 0 {
			return fmt.Errorf("state %s is not terminal and cannot be left", s)
		}
	}
	return nil
}
