package fsm

import (
	"fmt"
	"slices"
	"strings"
)

// Replayer holds tables to replay records against, by their hash.
type Replayer struct {
	// OneText names the tools that return one text and nothing beside it, so that
	// of the sizes in their records more is known.
	OneText []string

	tables map[string]*replayTable
}

// replayTable is a table ready for replaying. It is not a Definition: an old
// table may name events that have no schema any more.
type replayTable struct {
	name     string
	initial  State
	terminal map[State]bool
	states   map[State]bool
	rows     map[edge]*replayRow
	reasons  map[string]evidence // why output was not pruned, and what that takes
	answers  bool                // its machines answer requests
}

type replayRow struct {
	Row
	events []string
	sets   []assignment
	evidence
	why   need   // a code or reason of its events
	tool  need   // in its events
	code  string // the only code its events can give; "" when there are several
	open  bool   // the reason is not the row's to say
	timed bool   // it says how long the pruner took
}

// NewReplayer makes a replayer that knows the tables of this program and those of
// its archive.
func NewReplayer() (*Replayer, error) {
	archived, err := ArchivedTables()
	if err != nil {
		return nil, err
	}
	return ReplayerOf(append(archived, Tables()...)...), nil
}

// ReplayerOf makes a replayer that knows the given tables.
func ReplayerOf(tables ...Table) *Replayer {
	p := &Replayer{tables: make(map[string]*replayTable, len(tables))}
	for _, t := range tables {
		p.tables[t.Hash()] = newReplayTable(t)
	}
	return p
}

func newReplayTable(t Table) *replayTable {
	p := &replayTable{
		name: t.Name, initial: t.Initial, reasons: make(map[string]evidence),
		terminal: make(map[State]bool), states: make(map[State]bool), rows: make(map[edge]*replayRow),
	}
	for _, s := range t.Terminal {
		p.terminal[s] = true
	}
	for _, s := range statesOf(t) {
		p.states[s] = true
	}
	passed := make(map[State]evidence)
	for _, row := range t.Rows {
		r := replayRow{Row: row, events: strings.Fields(row.Events), sets: parseSets(row.Sets)}
		r.learn(passed)
		p.noteReason(&r)
		p.answers = p.answers || row.Trigger == Written
		for _, from := range p.expand(row.From) {
			one := r
			one.From = from
			p.rows[edge{from, row.Trigger}] = &one
		}
	}
	return p
}

func (p *replayTable) expand(from State) []State {
	if !isWildcard(from) {
		return []State{from}
	}
	var states []State
	for s := range p.states {
		if !p.terminal[s] {
			states = append(states, s)
		}
	}
	return states
}

// Replay says why no machine of the record's table can have left it; nil when
// one can have.
func (p *Replayer) Replay(r *Record) error {
	t, ok := p.tables[r.Table]
	if !ok {
		return fmt.Errorf("the %s table %s is not known to this program: use the version that wrote it (%s) or a later one",
			r.Machine, r.Table, r.Server)
	}
	if t.name != r.Machine {
		return fmt.Errorf("table %s is that of the machine %s, not of %s", r.Table, t.name, r.Machine)
	}
	var room [16]*replayRow
	rows, err := t.walk(r, room[:0])
	if err != nil {
		return err
	}
	m, err := t.checkMetadata(r, rows)
	if err != nil {
		return err
	}
	return t.checkPossible(r, rows, m, slices.Contains(p.OneText, r.Tool))
}

// walk takes the record's steps, one by one, and returns their rows.
func (p *replayTable) walk(r *Record, rows []*replayRow) ([]*replayRow, error) {
	state, last := p.initial, int64(0)
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
	case !p.terminal[state]:
		return nil, fmt.Errorf("it ends in %s, which is not a terminal state", state)
	case r.Outcome != state.Short():
		return nil, fmt.Errorf("it ends in %s, but its outcome is %q", state, r.Outcome)
	}
	return rows, nil
}

func (p *replayTable) step(state State, last int64, s *TraceStep) (*replayRow, error) {
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
	case !slices.Equal(row.events, s.Events):
		return nil, fmt.Errorf("row %s logs [%s], not [%s]", row.Spec, strings.Join(row.events, " "), strings.Join(s.Events, " "))
	case s.Micros < last:
		return nil, fmt.Errorf("it was taken %d µs before the step in front of it", last-s.Micros)
	}
	return row, row.checkWhy(s.Why)
}

// metadata is what the checks need of a record's metadata.
type metadata struct {
	applied     bool
	output      bool // the size of the output is known
	raw, pruned int64
	millis      int64 // of the pruner
	reason      string
}

func (m *metadata) take(v Value) {
	n, _ := v.Value.(int64)
	switch v.Field {
	case "applied":
		m.applied = v.Value == true
	case "raw_bytes":
		m.raw, m.output = n, true
	case "pruned_bytes":
		m.pruned = n
	case "pruner_duration_ms":
		m.millis = n
	case "reason":
		m.reason, _ = v.Value.(string)
	}
}

// checkMetadata compares the metadata with what the rows on the way set.
func (p *replayTable) checkMetadata(r *Record, rows []*replayRow) (m metadata, err error) {
	var set [16]assignment
	expected := set[:0]
	for _, row := range rows {
		for _, a := range row.sets {
			expected = override(expected, a)
		}
	}
	left := 0
	for _, a := range expected {
		value, ok := find(r.Pruning, a.field)
		switch {
		case !ok && a.fact && isQuote(a.field):
			left++
			continue
		case !ok:
			return m, fmt.Errorf("the metadata lacks %s, which a row on the way sets", a.field)
		case a.fact && !isFact(a.field, value):
			return m, fmt.Errorf("the metadata says %s=%v", a.field, value)
		case !a.fact && value != a.value:
			return m, fmt.Errorf("the metadata says %s=%v, and the rows on the way set %v", a.field, value, a.value)
		}
		m.take(Value{a.field, value})
	}
	if len(r.Pruning) == len(expected)-left {
		return m, nil
	}
	for _, v := range r.Pruning {
		if !slices.ContainsFunc(expected, func(a assignment) bool { return a.field == v.Field }) {
			return m, fmt.Errorf("the metadata has %s, which no row on the way sets", v.Field)
		}
	}
	return m, fmt.Errorf("the metadata has a field twice")
}

// isQuote says whether a field may quote what the request was about: it is
// recorded only when the trace is to say that.
func isQuote(field string) bool { return strings.HasSuffix(field, ".message") }

func override(list []assignment, a assignment) []assignment {
	for i := range list {
		if list[i].field == a.field {
			list[i] = a
			return list
		}
	}
	return append(list, a)
}

func find(values []Value, field string) (any, bool) {
	for _, v := range values {
		if v.Field == field {
			return v.Value, true
		}
	}
	return nil, false
}

// isFact says whether a value can be what a state's work found out: a size and a
// duration are not negative, all else is a word.
func isFact(field string, value any) bool {
	if strings.HasSuffix(field, "_bytes") || strings.HasSuffix(field, "_ms") {
		n, ok := value.(int64)
		return ok && n >= 0
	}
	s, ok := value.(string)
	return ok && (field != "reason" || isCode(s))
}
