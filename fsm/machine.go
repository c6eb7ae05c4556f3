package fsm

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/looplab/fsm"
)

// Hooks are called by a machine's callbacks. A nil hook is skipped. A panic in a hook is
// recovered: neither a log nor the metadata may block a request.
type Hooks struct {
	Emit func(Event)                   // called with each event of the row just taken
	Set  func(field string, value any) // called with each metadata field that the row sets
	Now  func() time.Time              // nil: time.Now
}

// Step is one transition that a machine took.
type Step struct {
	From    State
	Trigger Trigger
	To      State
	Spec    string        // rows of the design
	At      time.Duration // since the machine was made
	Events  []Event

	row *compiledRow
}

// Row returns the index of the step's row in the definition's Rows.
func (s *Step) Row() int { return s.row.at }

// Machine is one request or one run: its own looplab/fsm instance, and the steps it took
// with their times. Only one goroutine at a time may use it.
type Machine struct {
	id      string
	def     *Definition
	looplab *fsm.FSM
	hooks   Hooks
	started time.Time
	steps   []Step
	values  []any // values of the definition's metadata fields; nil where no row has set one
}

// New makes a machine in the table's initial state. id becomes the request_id of its
// events.
func (d *Definition) New(id string, hooks Hooks) *Machine {
	if hooks.Now == nil {
		hooks.Now = time.Now
	}
	return &Machine{
		id: id, def: d, looplab: unused(d.looplab), hooks: hooks, started: hooks.Now(),
		steps: make([]Step, 0, 8), values: make([]any, len(d.fields)),
	}
}

// unused returns an instance of looplab/fsm that is like a prototype which was never fired. NewFSM would build maps of all
// transitions and callbacks, which is a large part of the cost of a small request. A copy has a state and locks of its own
// and shares these maps, which looplab only reads. The reflection is for vet, which refuses copies of locks, used or not.
func unused(prototype *fsm.FSM) *fsm.FSM {
	instance := new(fsm.FSM)
	reflect.ValueOf(instance).Elem().Set(reflect.ValueOf(prototype).Elem())
	return instance
}

// ID returns the machine's id.
func (m *Machine) ID() string { return m.id }

// Started returns the time at which the machine was made.
func (m *Machine) Started() time.Time { return m.started }

// Metadata calls do for each metadata field that rows have set so far, in the order of the
// definition's Fields.
func (m *Machine) Metadata(do func(field string, value any)) {
	for i, value := range m.values {
		if value != nil {
			do(m.def.fields[i], value)
		}
	}
}

// Definition returns the definition that the machine was made from.
func (m *Machine) Definition() *Definition { return m.def }

// State returns the current state.
func (m *Machine) State() State { return State(m.looplab.Current()) }

// Done reports whether the machine is in a terminal state.
func (m *Machine) Done() bool { return m.def.Terminal(m.State()) }

// Steps returns the transitions taken so far.
func (m *Machine) Steps() []Step { return m.steps }

// Fire takes the row of the current state for the trigger. If there is no such row, Fire
// returns an error and the machine stays in its state.
//
// A looplab/fsm instance that is fired with a context that has already ended stays blocked
// for good, so the machine is never given the request's cancellation.
func (m *Machine) Fire(ctx context.Context, trigger Trigger, facts Facts) error {
	if err := m.looplab.Event(context.WithoutCancel(ctx), string(trigger), m, facts); err != nil {
		return fmt.Errorf("%s machine: %w", m.def.Name(), err)
	}
	return nil
}

// entered records the step and sets the metadata.
func entered(_ context.Context, e *fsm.Event) {
	m, facts := fired(e)
	row := m.def.compiled[edge{State(e.Src), Trigger(e.Event)}]
	m.steps = append(m.steps, Step{
		From: row.From, Trigger: row.Trigger, To: row.To, Spec: row.Spec,
		At: m.hooks.Now().Sub(m.started), row: row,
	})
	for _, a := range row.sets {
		m.set(a, facts)
	}
}

// emit logs the events of the row, in order.
func emit(_ context.Context, e *fsm.Event) {
	m, facts := fired(e)
	row := m.def.compiled[edge{State(e.Src), Trigger(e.Event)}]
	step := &m.steps[len(m.steps)-1]
	for _, schema := range row.events {
		made := schema.Event(m.id, facts)
		step.Events = append(step.Events, made)
		m.log(made)
	}
}

func (m *Machine) set(to setting, facts Facts) {
	value := to.Value
	if to.Fact {
		value = facts[to.Field]
	}
	if value == nil {
		return
	}
	m.values[to.at] = value
	if m.hooks.Set == nil {
		return
	}
	defer survive()
	m.hooks.Set(to.Field, value)
}

func (m *Machine) log(e Event) {
	if m.hooks.Emit == nil {
		return
	}
	defer survive()
	m.hooks.Emit(e)
}

// survive recovers a panic in a hook, which would otherwise leave looplab/fsm's locks held.
func survive() { _ = recover() }

// fired returns what Fire gave to looplab, which passes it on to its callbacks.
func fired(e *fsm.Event) (*Machine, Facts) { return e.Args[0].(*Machine), e.Args[1].(Facts) }
