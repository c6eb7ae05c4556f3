package trace

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// Replayer replays records against tables, which it finds by their hashes.
type Replayer struct{ tables map[string]*fsm.Definition }

// Walk is the result of replaying a record.
type Walk struct {
	Table *fsm.Definition
	Rows  []int // by step, the index in the table's Rows
}

// NewReplayer returns a replayer for the tables of this program.
func NewReplayer() *Replayer { return ReplayerOf(fsm.Tables()...) }

// ReplayerOf returns a replayer for the given tables.
func ReplayerOf(tables ...fsm.Table) *Replayer {
	p := &Replayer{make(map[string]*fsm.Definition, len(tables))}
	for _, t := range tables {
		p.tables[t.Hash()] = fsm.MustCompile(t)
	}
	return p
}

// Tables returns the tables by hash.
func (p *Replayer) Tables() map[string]*fsm.Definition { return p.tables }

// Replay takes the record's steps through its table. The error says why no machine with
// that table can have produced the record. The rows of the walk are stored in room.
func (p *Replayer) Replay(r *Record, room []int) (Walk, error) {
	d, ok := p.tables[r.Table]
	if !ok {
		return Walk{}, fmt.Errorf("the %s table %s is not known to this program: use the version that wrote it (%s)",
			r.Machine, r.Table, r.Server)
	}
	if d.Name() != r.Machine {
		return Walk{}, fmt.Errorf("table %s is that of the machine %s, not of %s", r.Table, d.Name(), r.Machine)
	}
	rows, err := walk(d, r, room)
	if err != nil {
		return Walk{}, err
	}
	return Walk{d, rows}, checkMetadata(headsOf(d), r, rows)
}

// walk takes the record's steps one by one and returns their rows.
func walk(d *fsm.Definition, r *Record, rows []int) ([]int, error) {
	state, last := d.Initial(), int64(0)
	for i := range r.Steps {
		s := &r.Steps[i]
		row := d.Index(s.From, s.Trigger)
		if err := checkStep(d, row, state, last, s); err != nil {
			return nil, fmt.Errorf("step %d (%s --%s--> %s): %w", i+1, s.From, s.Trigger, s.To, err)
		}
		state, last = s.To, s.Micros
		rows = append(rows, row)
	}
	terminal, run := d.Terminal(state), isRun(d)
	switch {
	case !terminal && !(run && r.Recovered != "") && (run || r.Answer != Interrupted):
		return nil, fmt.Errorf("it ends in %s, which is not a terminal state", state)
	case terminal && r.Answer == Interrupted:
		return nil, fmt.Errorf("it says that the call was interrupted, and ends in the terminal state %s", state)
	case r.Outcome != state.Short():
		return nil, fmt.Errorf("it ends in %s, but its outcome is %q", state, r.Outcome)
	}
	return rows, nil
}

// isRun reports whether a table is that of a run: it answers nobody, and a kill interrupts it in any state.
func isRun(d *fsm.Definition) bool {
	return slices.ContainsFunc(headsOf(d), func(h head) bool { return h.Trigger == fsm.PhaseEnded })
}

// checkStep compares a step with its row, -1 if there is none, and with the state and the time before it.
func checkStep(d *fsm.Definition, at int, state fsm.State, last int64, s *Step) error {
	var row head
	if at >= 0 {
		row = headsOf(d)[at]
	}
	switch {
	case !d.Has(s.From):
		return fmt.Errorf("the table has no state %q", s.From)
	case !d.Has(s.To):
		return fmt.Errorf("the table has no state %q", s.To)
	case s.From != state:
		return fmt.Errorf("the machine was in %s", state)
	case at < 0:
		return fmt.Errorf("no row leaves %s by %q", s.From, s.Trigger)
	case row.To != s.To:
		return fmt.Errorf("row %s leads to %s", row.Row, row.To)
	case row.Row != s.Row:
		return fmt.Errorf("that is row %s, not %s", row.Row, s.Row)
	case !slices.Equal(row.Events, s.Events):
		return fmt.Errorf("row %s logs [%s], not [%s]", row.Row, strings.Join(row.Events, " "), strings.Join(s.Events, " "))
	case s.Micros < last:
		return fmt.Errorf("it was taken %d µs before the previous step", last-s.Micros)
	}
	return nil
}

// checkMetadata compares the metadata with what the rows on the path set.
func checkMetadata(table []head, r *Record, rows []int) error {
	var set [16]fsm.Assignment
	expected := set[:0]
	for _, row := range rows {
		for _, a := range table[row].sets {
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
	if i := slices.IndexFunc(list, func(known fsm.Assignment) bool { return known.Field == a.Field }); i >= 0 {
		list[i] = a
		return list
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
