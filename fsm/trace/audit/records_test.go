package audit

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
)

// everyRecord returns a record for every path through every machine, and for every path
// that an abort cuts short.
func everyRecord(t testing.TB) []trace.Record {
	t.Helper()
	var records []trace.Record
	for _, table := range fsm.Tables() {
		d := fsm.MustCompile(table)
		for _, way := range ways(d, d.Initial(), nil) {
			records = append(records, recordOf(t, d, way, len(records)))
		}
	}
	require.Greater(t, len(records), 60)
	return records
}

func ways(d *fsm.Definition, from fsm.State, so []fsm.Trigger) [][]fsm.Trigger {
	if d.Terminal(from) {
		return [][]fsm.Trigger{slices.Clone(so)}
	}
	var all [][]fsm.Trigger
	for _, trigger := range d.Leaving(from) {
		row, _ := d.Row(from, trigger)
		all = append(all, ways(d, row.To, append(so, trigger))...)
	}
	return all
}

// recordOf runs a machine with a clock that advances 5 ms at every reading, and adds to the
// record what a server would.
func recordOf(t testing.TB, d *fsm.Definition, way []fsm.Trigger, n int) trace.Record {
	t.Helper()
	now := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Second)
	m := d.New(fmt.Sprintf("req_%04d", n), fsm.Hooks{
		Now: func() time.Time { now = now.Add(5 * time.Millisecond); return now },
	})
	for _, trigger := range way {
		require.NoError(t, m.Fire(t.Context(), trigger, factsFor(trigger, way, n)))
	}
	r := trace.NewRecord(m)
	r.Server, r.Writer, r.Seq, r.Prev = "0.1.0", "00112233445566ff", uint64(n+2), "ffeeddccbbaa99887766554433221100"
	r.Client = "claude-code"
	if strings.HasPrefix(d.Name(), "request") {
		describeRequest(&r, way, n)
	}
	return r
}

// factsFor returns the facts that the work of a state would produce.
func factsFor(trigger fsm.Trigger, way []fsm.Trigger, n int) fsm.Facts {
	facts := fsm.Facts{
		"tool": "read", "raw_bytes": 4000, "pruned_bytes": 400, "pruner_duration_ms": int64(4), "code": "not_found",
		"error.message": "it said no", "duration_ms": 1, "message": "a secret", "bytes": 1, "root": "/secret",
	}
	if trigger == fsm.ToolTimedOut {
		facts["code"] = "timeout"
	}
	switch trigger {
	case fsm.ToolFailed, fsm.ToolTimedOut:
		facts["reason"] = []string{"disabled_or_unconfigured", "output_empty", "no_focus_question"}[n%3]
	case fsm.PrunerTimedOut:
		facts["reason"] = "timeout"
	case fsm.PrunerHTTPFailed:
		facts["reason"] = "http_error"
	case fsm.PrunerInvalid:
		facts["reason"] = "invalid_response"
	default:
		if possible := codes[trigger]; len(possible) > 0 {
			facts["reason"] = possible[n%len(possible)]
		}
	}
	if outputIsEmpty(way) {
		facts["raw_bytes"] = 0
	}
	return facts
}

func outputIsEmpty(way []fsm.Trigger) bool {
	return slices.ContainsFunc(way, func(t fsm.Trigger) bool { return t == fsm.ToolFailed || t == fsm.ToolTimedOut || t == fsm.OutputEmpty })
}

// describeRequest sets the fields of a record that do not depend on the path.
func describeRequest(r *trace.Record, way []fsm.Trigger, n int) {
	r.Session = "ses_1"
	if way[0] == fsm.Accept {
		r.Tool = "read"
	}
	ran := len(way) > 1 && way[1] == fsm.ArgumentsValid
	if ran {
		r.Subject, r.Part = "0123456789abcdef", n%3 == 0
	}
	end := r.Steps[len(r.Steps)-1]
	if end.Trigger == fsm.WriteFailed {
		r.Answer = trace.Unwritten
		return
	}
	if end.Why == "cancelled" {
		return
	}
	r.Bytes.Wire = 9000
	reason, _ := r.Metadata("reason")
	asked := reason != "no_focus_question" || slices.Contains(way, fsm.RepeatRead)
	if ran && asked {
		r.Tokens.Question, r.Tokens.Estimated = 12, true
	}
	switch {
	case end.Trigger == fsm.Abort || len(r.Pruning) == 0 || slices.Contains(way, fsm.OutputEmpty):
		return
	case slices.Contains(way, fsm.Pruned):
		r.Bytes.Raw, r.Bytes.Sent = 4000, 400
		r.Tokens.Raw, r.Tokens.Sent, r.Tokens.Estimated = 1000, 100, true
	default:
		r.Bytes.Raw, r.Bytes.Sent = 4000, 4000
		r.Tokens.Raw, r.Tokens.Sent, r.Tokens.Estimated = 1000, 1000, true
	}
}

// The unchanged record of a real machine is valid, on every path through every table.
func TestEveryPathIsPossible(t *testing.T) {
	a := newAuditor()
	for _, r := range everyRecord(t) {
		line := trace.AppendRecord(nil, &r)
		var back trace.Record
		require.NoError(t, trace.NewDecoder().Decode(line[:len(line)-1], &back))
		require.NoError(t, a.check(&back), "%s", line)
	}
}
