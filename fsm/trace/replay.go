package trace

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// Replayer holds the tables to replay records against, by hash.
type Replayer struct{ tables map[string]*Table }

// Table is a table ready for replaying. It is not an [fsm.Definition]: the events of an old
// table may no longer have a schema.
type Table struct {
	fsm.Table
	terminal map[fsm.State]bool
	states   map[fsm.State]bool
	rows     map[edge]*Row
	run      bool // the table of a run: it answers nobody, and a kill interrupts it in any state
}

// Row is one transition of a table, with wildcards expanded.
type Row struct {
	fsm.Row
	Events []string
	Sets   []fsm.Assignment
	At     int // index in the table's Rows of the row it was expanded from
}

type edge struct {
	from    fsm.State
	trigger fsm.Trigger
}

// Walk is the result of replaying a record.
type Walk struct {
	Table *Table
	Rows  []*Row // one for each step
}

// NewReplayer returns a replayer for the tables of this program.
func NewReplayer() *Replayer { return ReplayerOf(fsm.Tables()...) }

// ReplayerOf returns a replayer for the given tables.
func ReplayerOf(tables ...fsm.Table) *Replayer {
	p := &Replayer{tables: make(map[string]*Table, len(tables))}
	for _, t := range tables {
		p.tables[t.Hash()] = newTable(t)
	}
	return p
}

// Tables returns the tables by hash.
func (p *Replayer) Tables() map[string]*Table { return p.tables }

func newTable(t fsm.Table) *Table {
	p := &Table{Table: t, terminal: make(map[fsm.State]bool), states: make(map[fsm.State]bool), rows: make(map[edge]*Row)}
	for _, s := range t.Terminal {
		p.terminal[s] = true
	}
	for _, s := range t.States() {
		p.states[s] = true
	}
	for at, row := range t.Rows {
		for _, from := range p.expand(row.From) {
			one := Row{Row: row, Events: strings.Fields(row.Events), Sets: row.Assigns(), At: at}
			one.From = from
			p.rows[edge{from, row.Trigger}] = &one
		}
		p.run = p.run || row.Trigger == fsm.PhaseEnded
	}
	return p
}

func (p *Table) expand(from fsm.State) []fsm.State {
	if !from.Wildcard() {
		return []fsm.State{from}
	}
	var states []fsm.State
	for s := range p.states {
		if !p.terminal[s] {
			states = append(states, s)
		}
	}
	return states
}

// Replay takes the record's steps through its table. The error says why no machine with
// that table can have produced the record. The rows of the walk are stored in room.
func (p *Replayer) Replay(r *Record, room []*Row) (Walk, error) {
	t, ok := p.tables[r.Table]
	if !ok {
		return Walk{}, fmt.Errorf("the %s table %s is not known to this program: use the version that wrote it (%s)",
			r.Machine, r.Table, r.Server)
	}
	if t.Name != r.Machine {
		return Walk{}, fmt.Errorf("table %s is that of the machine %s, not of %s", r.Table, t.Name, r.Machine)
	}
	rows, err := t.walk(r, room)
	if err != nil {
		return Walk{}, err
	}
	return Walk{t, rows}, t.checkMetadata(r, rows)
}

// walk takes the record's steps one by one and returns their rows.
func (p *Table) walk(r *Record, rows []*Row) ([]*Row, error) {
	state, last := p.Initial, int64(0)
	for i := range r.Steps {
		s := &r.Steps[i]
		row, err := p.step(state, last, s)
		if err != nil {
			return nil, fmt.Errorf("step %d (%s --%s--> %s): %w", i+1, s.From, s.Trigger, s.To, err)
		}
		state, last = s.To, s.Micros
		rows = append(rows, row)
	}
	switch {
	case !p.terminal[state] && !(p.run && r.Recovered != "") && (p.run || r.Answer != Interrupted):
		return nil, fmt.Errorf("it ends in %s, which is not a terminal state", state)
	case p.terminal[state] && r.Answer == Interrupted:
		return nil, fmt.Errorf("it says that the call was interrupted, and ends in the terminal state %s", state)
	case r.Outcome != state.Short():
		return nil, fmt.Errorf("it ends in %s, but its outcome is %q", state, r.Outcome)
	}
	return rows, nil
}

func (p *Table) step(state fsm.State, last int64, s *Step) (*Row, error) {
	row, ok := p.rows[edge{s.From, s.Trigger}]
	switch {
	case !p.states[s.From]:
		return nil, fmt.Errorf("the table has no state %q", s.From)
	case !p.states[s.To]:
		return nil, fmt.Errorf("the table has no state %q", s.To)
	case s.From != state:
		return nil, fmt.Errorf("the machine was in %s", state)
	case !ok:
		return nil, fmt.Errorf("no row leaves %s by %q", s.From, s.Trigger)
	case row.To != s.To:
		return nil, fmt.Errorf("row %s leads to %s", row.Spec, row.To)
	case row.Spec != s.Row:
		return nil, fmt.Errorf("that is row %s, not %s", row.Spec, s.Row)
	case !slices.Equal(row.Events, s.Events):
		return nil, fmt.Errorf("row %s logs [%s], not [%s]", row.Spec, strings.Join(row.Events, " "), strings.Join(s.Events, " "))
	case s.Micros < last:
		return nil, fmt.Errorf("it was taken %d µs before the previous step", last-s.Micros)
	}
	return row, nil
}

// checkMetadata compares the metadata with what the rows on the path set.
func (p *Table) checkMetadata(r *Record, rows []*Row) error {
	var set [16]fsm.Assignment
	expected := set[:0]
	for _, row := range rows {
		for _, a := range row.Sets {
			expected = override(expected, a)
		}
	}
	for _, a := range expected {
		value, ok := r.Metadata(a.Field)
		switch {
		case !ok:
			return fmt.Errorf("the metadata lacks %s, which a row on the path sets", a.Field)
		case a.Fact && !isFact(a.Field, value):
			return fmt.Errorf("the metadata says %s=%v", a.Field, value)
		case !a.Fact && value != a.Value:
			return fmt.Errorf("the metadata says %s=%v, and the rows on the path set %v", a.Field, value, a.Value)
		}
	}
	if len(r.Pruning) == len(expected) {
		return nil
	}
	for _, v := range r.Pruning {
		if !slices.ContainsFunc(expected, func(a fsm.Assignment) bool { return a.Field == v.Field }) {
			return fmt.Errorf("the metadata has %s, which no row on the path sets", v.Field)
		}
	}
	return fmt.Errorf("the metadata has a field twice")
}

func override(list []fsm.Assignment, a fsm.Assignment) []fsm.Assignment {
	for i := range list {
		if list[i].Field == a.Field {
			list[i] = a
			return list
		}
	}
	return append(list, a)
}

// Metadata returns a field of the record's metadata, and whether it is there.
func (r *Record) Metadata(field string) (any, bool) {
	for _, v := range r.Pruning {
		if v.Field == field {
			return v.Value, true
		}
	}
	return nil, false
}

// isFact reports whether a value can come from a state's work: sizes and durations are not
// negative, all other values are words.
func isFact(field string, value any) bool {
	if strings.HasSuffix(field, "_bytes") || strings.HasSuffix(field, "_ms") {
		n, ok := value.(int64)
		return ok && n >= 0
	}
	s, ok := value.(string)
	return ok && (field != "reason" || IsCode(s))
}
