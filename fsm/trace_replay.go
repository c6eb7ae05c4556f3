package fsm

import (
	"fmt"
	"slices"
	"strings"
)

// Replayer holds tables to replay records against, by their hash.
type Replayer struct {
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
}

type replayRow struct {
	Row
	events []string
	sets   []assignment
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
		name: t.Name, initial: t.Initial,
		terminal: make(map[State]bool), states: make(map[State]bool), rows: make(map[edge]*replayRow),
	}
	for _, s := range t.Terminal {
		p.terminal[s] = true
	}
	for _, s := range statesOf(t) {
		p.states[s] = true
	}
	for _, row := range t.Rows {
		for _, from := range p.expand(row.From) {
			row.From = from
			p.rows[edge{from, row.Trigger}] = &replayRow{row, strings.Fields(row.Events), parseSets(row.Sets)}
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
	if err := t.walk(r); err != nil {
		return err
	}
	if err := t.checkMetadata(r); err != nil {
		return err
	}
	return checkSizes(r)
}

// walk takes the record's steps, one by one.
func (p *replayTable) walk(r *Record) error {
	state, last := p.initial, int64(0)
	for i := range r.Steps {
		s := &r.Steps[i]
		if err := p.step(state, last, s); err != nil {
			return fmt.Errorf("step %d (%s --%s--> %s): %w", i+1, s.From, s.Trigger, s.To, err)
		}
		state, last = s.To, s.Micros
	}
	switch {
	case !p.terminal[state]:
		return fmt.Errorf("it ends in %s, which is not a terminal state", state)
	case r.Outcome != state.Short():
		return fmt.Errorf("it ends in %s, but its outcome is %q", state, r.Outcome)
	}
	return nil
}

func (p *replayTable) step(state State, last int64, s *TraceStep) error {
	row, ok := p.rows[edge{s.From, s.Trigger}]
	switch {
	case !p.states[s.From]:
		return fmt.Errorf("the table has no state %q", s.From)
	case !p.states[s.To]:
		return fmt.Errorf("the table has no state %q", s.To)
	case s.From != state:
		return fmt.Errorf("the machine was in %s", state)
	case !ok:
		return fmt.Errorf("no row leaves %s by %q", s.From, s.Trigger)
	case row.To != s.To:
		return fmt.Errorf("row %s leads to %s", row.Spec, row.To)
	case row.Spec != s.Row:
		return fmt.Errorf("that is row %s, not %s", row.Spec, s.Row)
	case !slices.Equal(row.events, s.Events):
		return fmt.Errorf("row %s logs [%s], not [%s]", row.Spec, strings.Join(row.events, " "), strings.Join(s.Events, " "))
	case s.Micros < last:
		return fmt.Errorf("it was taken %d µs before the step in front of it", last-s.Micros)
	case s.Why != "" && !isCode(s.Why):
		return fmt.Errorf("%q is no code", s.Why)
	}
	return nil
}

// checkMetadata compares the metadata with what the rows on the way set.
func (p *replayTable) checkMetadata(r *Record) error {
	var set [16]assignment
	expected := set[:0]
	for i := range r.Steps {
		row := p.rows[edge{r.Steps[i].From, r.Steps[i].Trigger}]
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
		case !ok:
			return fmt.Errorf("the metadata lacks %s, which a row on the way sets", a.field)
		case a.fact && !isFact(a.field, value):
			return fmt.Errorf("the metadata says %s=%v", a.field, value)
		case !a.fact && value != a.value:
			return fmt.Errorf("the metadata says %s=%v, and the rows on the way set %v", a.field, value, a.value)
		}
	}
	if len(r.Pruning) == len(expected)-left {
		return nil
	}
	for _, v := range r.Pruning {
		if !slices.ContainsFunc(expected, func(a assignment) bool { return a.field == v.Field }) {
			return fmt.Errorf("the metadata has %s, which no row on the way sets", v.Field)
		}
	}
	return fmt.Errorf("the metadata has a field twice")
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

// checkSizes compares what was sent with what the metadata says was done, and
// the pruner's time with the time the machine waited for it.
func checkSizes(r *Record) error {
	b, t := r.Bytes, r.Tokens
	if min(b.Raw, b.Sent, b.Wire, t.Raw, t.Sent, t.Question) < 0 {
		return fmt.Errorf("a size is negative")
	}
	applied, _ := find(r.Pruning, "applied")
	if applied != true && (b.Raw != b.Sent || t.Raw != t.Sent) {
		return fmt.Errorf("nothing was pruned, but the raw size and the size sent differ")
	}
	ms, ok := find(r.Pruning, "pruner_duration_ms")
	if waited := longestStep(r.Steps); ok && ms.(int64)*1000 > waited {
		return fmt.Errorf("the pruner took %d ms, but no step took that long", ms)
	}
	return nil
}

func longestStep(steps []TraceStep) int64 {
	var longest, last int64
	for i := range steps {
		longest = max(longest, steps[i].Micros-last)
		last = steps[i].Micros
	}
	return longest
}
