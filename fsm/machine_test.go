package fsm

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newRequest(t *testing.T, hooks Hooks) *Machine {
	t.Helper()
	d, err := Compile(RequestTable())
	require.NoError(t, err)
	return d.New("req_1", hooks)
}

func TestCompileRefusesWhatLooplabWouldTakeInSilence(t *testing.T) {
	row := Row{From: "a", Trigger: "go", To: "b", Spec: "X1"}
	cases := map[string]struct {
		rows []Row
		want string
	}{
		"two rows for one state and trigger": {[]Row{row, {From: "a", Trigger: "go", To: "c"}}, "has that trigger already (row X1)"},
		"a row to its own state":             {[]Row{row, {From: "a", Trigger: "stay", To: "a"}}, "its own state"},
		"an unknown event":                   {[]Row{{From: "a", Trigger: "go", To: "b", Events: "tool.exec_okay"}}, `unknown event "tool.exec_okay"`},
		"a way out of a terminal state":      {[]Row{row, {From: "b", Trigger: "back", To: "a"}}, "out of a terminal state"},
		"a state nothing leads to":           {[]Row{row, {From: "c", Trigger: "go", To: "b"}}, "state c cannot be reached"},
		"a state nothing leads out of":       {[]Row{row, {From: "a", Trigger: "stray", To: "c"}}, "state c is not terminal and cannot be left"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(Table{Name: "test", Initial: "a", Terminal: []State{"b"}, Rows: c.rows})
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestWildcardStandsForEveryStateThatIsNotTerminal(t *testing.T) {
	d, err := Compile(RequestTable())
	require.NoError(t, err)
	for _, s := range d.States() {
		_, ok := d.Row(s, Abort)
		assert.Equal(t, !d.Terminal(s), ok, "abort from %s", s)
	}
}

func TestHTTPTableIsTheStdioTablePlusARow(t *testing.T) {
	http := HTTPRequestTable()
	assert.Len(t, http.Rows, len(RequestTable().Rows)+1)
	http.Name = "request"
	rows := http.Without("T17").Rows
	for i := range rows { // the rows are equal except for the numbers
		rows[i].Spec = RequestTable().Rows[i].Spec
	}
	assert.Equal(t, RequestTable().Rows, rows)
	d, err := Compile(HTTPRequestTable())
	require.NoError(t, err)
	assert.Equal(t, []Trigger{NoQuestion, RepeatRead, PruningOff, TooLarge, OutputEmpty, Eligible, Abort}, d.Leaving(PruneCheck))
}

func TestFireTakesTheRowAndItsEffects(t *testing.T) {
	var events []Event
	set := map[string]any{}
	now := time.Unix(0, 0)
	m := newRequest(t, Hooks{
		Emit: func(e Event) { events = append(events, e) },
		Set:  func(field string, value any) { set[field] = value },
		Now:  func() time.Time { now = now.Add(time.Millisecond); return now },
	})
	for _, trigger := range []Trigger{Accept, ArgumentsValid, ToolSucceeded, OutputCaptured, Eligible} {
		require.NoError(t, m.Fire(t.Context(), trigger, Facts{"tool": "read", "raw_bytes": 7}))
	}
	events = nil
	facts := Facts{"tool": "read", "reason": "timeout", "pruner_duration_ms": int64(5), "message": "late", "error.message": "late", "extra": 1}
	require.NoError(t, m.Fire(t.Context(), PrunerTimedOut, facts))

	assert.Equal(t, PrunerErrorFallback, m.State())
	assert.Equal(t, []Event{
		{Name: "pruner.timeout", Level: LevelWarn, RequestID: "req_1", Data: Facts{"tool": "read", "pruner_duration_ms": int64(5)}},
		{Name: "pruner.call_failed", Level: LevelWarn, RequestID: "req_1", Data: Facts{"tool": "read", "reason": "timeout", "pruner_duration_ms": int64(5), "message": "late"}},
	}, events, "the specific event comes first, and each takes only its own fields")
	assert.Equal(t, map[string]any{
		"attempted": true, "applied": false, "fallback": true, "reason": "pruner_error",
		"error.code": "timeout", "error.message": "late", "pruner_duration_ms": int64(5), "raw_bytes": 7,
	}, set)
	last := m.Steps()[len(m.Steps())-1]
	assert.Equal(t, "T20 E8", last.Spec)
	assert.Equal(t, 6*time.Millisecond, last.At)
	assert.Equal(t, events, last.Events)
}

func TestFireWithoutARowChangesNothing(t *testing.T) {
	m := newRequest(t, Hooks{})
	require.ErrorContains(t, m.Fire(t.Context(), Written, nil), "inappropriate in current state req:received")
	assert.Equal(t, Received, m.State())
	assert.Empty(t, m.Steps())
	require.NoError(t, m.Fire(t.Context(), Accept, nil), "the machine is not wedged")
}

func TestCancelledContextDoesNotWedge(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := newRequest(t, Hooks{})
	require.NoError(t, m.Fire(ctx, Accept, nil))
	require.NoError(t, m.Fire(ctx, Abort, Facts{"reason": "cancelled"}))
	assert.True(t, m.Done())
}

func TestPanickingHooksDoNotWedge(t *testing.T) {
	m := newRequest(t, Hooks{
		Emit: func(Event) { panic("the log is broken") },
		Set:  func(string, any) { panic("so is the metadata") },
	})
	for _, trigger := range []Trigger{Accept, ArgumentsValid, ToolSucceeded, OutputCaptured, NoQuestion, Written} {
		require.NoError(t, m.Fire(t.Context(), trigger, Facts{"raw_bytes": 1}))
	}
	assert.Equal(t, Responded, m.State())
}

func TestACancelledRequestIsAnOrdinaryEnd(t *testing.T) {
	for reason, level := range map[string]Level{"cancelled": LevelInfo, "panic": LevelError} {
		e := NewEvent("tool.internal_error", "req_1", Facts{"reason": reason})
		assert.Equal(t, level, e.Level, reason)
	}
}

func TestEventCheckNamesTheField(t *testing.T) {
	require.NoError(t, NewEvent("tool.exec_ok", "", Facts{"tool": "read", "duration_ms": 1, "bytes": 2}).Check())
	require.ErrorContains(t, NewEvent("tool.exec_ok", "", Facts{"tool": "read", "bytes": 2}).Check(), `lacks the field "duration_ms"`)
	require.ErrorContains(t, Event{Name: "tool.exec_ok", Data: Facts{"tool": "", "duration_ms": 1, "bytes": 2, "path": "x"}}.Check(), `a field "path"`)
	require.ErrorContains(t, Event{Name: "tool.nothing"}.Check(), "in no schema")
}

// Machines share looplab's maps of the table, and nothing else: under the race detector this fails if one of them writes.
func TestMachinesOfATableAreIndependent(t *testing.T) {
	d, err := Compile(RequestTable())
	require.NoError(t, err)
	wedged := d.New("wedged", Hooks{})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, wedged.looplab.Event(ended, string(Accept), wedged, Facts(nil)), "looplab is blocked for good by this")
	require.ErrorContains(t, wedged.Fire(t.Context(), Accept, nil), "inappropriate because previous transition did not complete")

	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			m := d.New("req_2", Hooks{})
			for _, trigger := range []Trigger{Accept, ArgumentsValid, ToolSucceeded, OutputCaptured, NoQuestion, Written} {
				assert.NoError(t, m.Fire(t.Context(), trigger, Facts{"raw_bytes": 1}))
			}
			assert.Equal(t, Responded, m.State())
			assert.Len(t, m.Steps(), 6)
		})
	}
	all.Wait()
	assert.Equal(t, Received, d.New("req_3", Hooks{}).State())
	assert.Empty(t, wedged.Steps())
}

// looplab's NewFSM takes 21 allocations for the table of a request.
func TestAMachineCostsAFewAllocations(t *testing.T) {
	d, err := Compile(RequestTable())
	require.NoError(t, err)
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { d.New("req_4", Hooks{}) }), 4.0)
}

// Every step is taken by looplab/fsm when it is fired, and by nothing else: looplab's Event
// is on the stack when the step's events are emitted.
func TestEveryStepIsFiredThroughLooplab(t *testing.T) {
	emitted := 0
	m := newRequest(t, Hooks{Emit: func(Event) {
		emitted++
		assert.True(t, onStack("github.com/looplab/fsm.(*FSM).Event"), "the engine is looplab's")
	}})
	for _, trigger := range []Trigger{Accept, ArgumentsValid, ToolSucceeded, OutputCaptured, NoQuestion, Written} {
		require.NoError(t, m.Fire(t.Context(), trigger, Facts{}))
		assert.Equal(t, State(m.looplab.Current()), m.Steps()[len(m.Steps())-1].To)
	}
	assert.Positive(t, emitted)
}

func onStack(function string) bool {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		frame, more := frames.Next()
		if frame.Function == function {
			return true
		}
		if !more {
			return false
		}
	}
}
