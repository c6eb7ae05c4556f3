package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// machine is the transcription of a machine.
type machine struct {
	initial          string
	terminal, states []string
	rows             []map[string]string
}

func readMachine(t *testing.T, name string) machine {
	f := readSpec(t, name)
	initial := f.list(t, "Initial state")
	require.Len(t, initial, 1)
	return machine{initial[0], f.list(t, "Terminal states"), f.list(t, "States"), f.rows}
}

func machines(t *testing.T) map[string]struct {
	code fsm.Table
	spec machine
} {
	return map[string]struct {
		code fsm.Table
		spec machine
	}{
		"request":      {fsm.RequestTable(), readMachine(t, "request.md")},
		"request-http": {fsm.HTTPRequestTable(), readMachine(t, "request-http.md")},
		"run":          {fsm.RunTable(), readMachine(t, "run.md")},
		"run-http":     {fsm.HTTPRunTable(), readMachine(t, "run-http.md")},
	}
}

// rowText formats a row of the code in the same way as specText formats a transcribed row.
func rowText(r fsm.Row) string {
	return fmt.Sprintf("%s: %s --%s--> %s, events [%s], metadata [%s]", r.Spec, r.From, r.Trigger, r.To, r.Events, r.Sets)
}

func specText(r map[string]string) string {
	return fmt.Sprintf("%s: %s --%s--> %s, events [%s], metadata [%s]", r["row"], r["from"], r["trigger"], r["to"], r["events"], r["metadata"])
}

// differences compares a machine with its transcription in both directions, including the order of the rows. Each
// difference names its row.
func differences(code fsm.Table, spec machine) []string {
	var found []string
	var have, want []string
	for _, r := range code.Rows {
		have = append(have, rowText(r))
	}
	for _, r := range spec.rows {
		want = append(want, specText(r))
	}
	for _, w := range want {
		if !slices.Contains(have, w) {
			found = append(found, "the code lacks row "+w)
		}
	}
	for _, h := range have {
		if !slices.Contains(want, h) {
			found = append(found, "the transcription lacks row "+h)
		}
	}
	if len(found) == 0 && !slices.Equal(have, want) {
		found = append(found, "the rows stand in another order: "+strings.Join(have, "\n"))
	}
	return append(found, stateDifferences(code, spec)...)
}

func stateDifferences(code fsm.Table, spec machine) []string {
	d, err := fsm.Compile(code)
	if err != nil {
		return []string{err.Error()}
	}
	var found []string
	compare := func(what string, have []fsm.State, want []string) {
		var names []string
		for _, s := range have {
			names = append(names, string(s))
		}
		slices.Sort(names)
		want = slices.Sorted(slices.Values(want))
		if !slices.Equal(names, want) {
			found = append(found, fmt.Sprintf("%s: the code has %v, the transcription %v", what, names, want))
		}
	}
	compare("initial state", []fsm.State{d.Initial()}, []string{spec.initial})
	compare("terminal states", code.Terminal, spec.terminal)
	compare("states", d.States(), spec.states)
	return found
}

func TestTablesEqualTheDesign(t *testing.T) {
	for name, m := range machines(t) {
		t.Run(name, func(t *testing.T) {
			assert.Empty(t, differences(m.code, m.spec))
		})
	}
}

// TestEveryDesignRowIsTranscribed proves that the transcription has the rows T1 to T24 and E1 to E15 of the design.
func TestEveryDesignRowIsTranscribed(t *testing.T) {
	var ids []string
	for _, m := range machines(t) {
		for _, r := range m.spec.rows {
			ids = append(ids, strings.Fields(r["row"])...)
		}
	}
	for i := 1; i <= 24; i++ {
		assert.Contains(t, ids, fmt.Sprintf("T%d", i))
	}
	for i := 1; i <= 15; i++ { // E13 to E15 are in the HTTP design only
		assert.Contains(t, ids, fmt.Sprintf("E%d", i))
	}
}

// TestAMutatedRowIsNamed proves that the comparison finds every kind of change of a row and names the row.
func TestAMutatedRowIsNamed(t *testing.T) {
	mutations := map[string]func(r *fsm.Row){
		"other from":       func(r *fsm.Row) { r.From = "req:elsewhere" },
		"other trigger":    func(r *fsm.Row) { r.Trigger += "x" },
		"other to":         func(r *fsm.Row) { r.To = "req:elsewhere" },
		"event added":      func(r *fsm.Row) { r.Events = strings.TrimSpace(r.Events + " tool.exec_ok") },
		"events reversed":  func(r *fsm.Row) { r.Events = reversed(r.Events) },
		"metadata changed": func(r *fsm.Row) { r.Sets += " attempted=maybe" },
		"other spec row":   func(r *fsm.Row) { r.Spec += "9" },
	}
	for name, m := range machines(t) {
		for i, row := range m.code.Rows {
			for what, mutate := range mutations {
				mutated := m.code
				mutated.Rows = slices.Clone(m.code.Rows)
				mutate(&mutated.Rows[i])
				if mutated.Rows[i] == row {
					continue // reversing a single event changes nothing
				}
				requireNamed(t, differences(mutated, m.spec), row, name+": "+what)
			}
			missing := m.code
			missing.Rows = slices.Delete(slices.Clone(m.code.Rows), i, i+1)
			requireNamed(t, differences(missing, m.spec), row, name+": row removed")
		}
	}
}

func requireNamed(t *testing.T, found []string, row fsm.Row, what string) {
	t.Helper()
	named := slices.ContainsFunc(found, func(d string) bool { return strings.Contains(d, "row "+row.Spec+": ") })
	require.True(t, named, "%s, row %s: found only %v", what, row.Spec, found)
}

func reversed(events string) string {
	names := strings.Fields(events)
	slices.Reverse(names)
	return strings.Join(names, " ")
}

func TestEventsEqualTheDesign(t *testing.T) {
	var have, want []string
	for _, s := range fsm.EventSchemas() {
		have = append(have, fmt.Sprintf("%s %s [%s]", s.Name, s.Level, s.Fields))
	}
	for _, r := range readSpec(t, "events.md").rows {
		want = append(want, fmt.Sprintf("%s %s [%s]", r["event"], r["level"], r["fields"]))
	}
	assert.ElementsMatch(t, want, have)
}

// TestEveryRunRowOverHTTPIsTranscribed proves that the transcription has the run rows T1 to T8 and E1 to E5 of the HTTP
// design. E6 is an event, not a row.
func TestEveryRunRowOverHTTPIsTranscribed(t *testing.T) {
	var ids []string
	for _, r := range readMachine(t, "run-http.md").rows {
		ids = append(ids, strings.Fields(r["row"])...)
	}
	slices.Sort(ids)
	assert.Equal(t, []string{"E1", "E2", "E3", "E4", "E5", "T1", "T2", "T3", "T4", "T5", "T6", "T7", "T8"}, slices.Compact(ids))
}

// TestEveryEventIsEmittedSomewhere proves that every event with a schema is emitted: by a row of a machine, or by the
// process itself, for the events that are listed here.
func TestEveryEventIsEmittedSomewhere(t *testing.T) {
	emitted := []string{"mcp_pruner.stopped", "mcp_pruner.kill_escalated", "mcp_pruner.log_dropped", "mcp_pruner.trace_failed",
		"mcp_pruner.trace_head", "mcp_pruner.trace_removed", "mcp_pruner.metrics_ready",
		"mcp_pruner.setting_unknown", "mcp_pruner.accept_failed", "mcp_pruner.warning",
		"proxy.ready", "proxy.noted", "proxy.cleared", "proxy.left_alone", "proxy.unmarked", "proxy.passed_through", "proxy.refused", "proxy.upstream_failed", "ledger.failed", "ledger.restored",
		"gateway.upstream_failed", "gateway.upstream_lost", "gateway.upstream_ready", "gateway.upstream_stderr",
		"gateway.upstream_tool_skipped"}
	for _, m := range machines(t) {
		for _, r := range m.code.Rows {
			emitted = append(emitted, strings.Fields(r.Events)...)
		}
	}
	for _, s := range fsm.EventSchemas() {
		assert.Contains(t, emitted, s.Name)
	}
}
