package verbs

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm/trace/audit"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/tracetest"
)

const traceSample = "../../../testdata/audit/requests.jsonl"

func statsOf(t *testing.T, args ...string) audit.Stats {
	t.Helper()
	stdout, stderr, code := runTrace(t, append([]string{"stats", "--json"}, args...)...)
	require.Empty(t, stderr)
	var s audit.Stats
	require.NoError(t, json.Unmarshal([]byte(stdout), &s))
	require.Equal(t, s.Verdict.OK, code == traceOK)
	return s
}

// Each flag selects by what it names.
func TestStatsCanBeNarrowed(t *testing.T) {
	all := statsOf(t, traceSample)
	assert.Equal(t, 24, all.Requests)
	for _, c := range []struct {
		args []string
		want int
	}{
		{[]string{"--tool", "grep"}, 2},
		{[]string{"--client", "inspector"}, 4},
		{[]string{"--session", "ses_nobody"}, 0},
		{[]string{"--run", "run_none"}, 0},
		{[]string{"--since", all.From.Format("2006-01-02")}, 24},
		{[]string{"--since", all.To.Format("2006-01-02T15:04:05.000000Z07:00")}, 1},
		{[]string{"--until", all.To.Format("2006-01-02T15:04:05.000000Z07:00")}, 23},
	} {
		assert.Equal(t, c.want, statsOf(t, append(c.args, traceSample)...).Requests, c.args)
	}
	assert.Less(t, statsOf(t, "--limit", "100", traceSample).Saved.Without, all.Saved.Without)
}

func TestStatsAreShown(t *testing.T) {
	stdout, _, code := runTrace(t, "stats", traceSample)
	assert.Equal(t, traceOK, code)
	for _, want := range []string{"24 requests and 0 runs in 4 sessions", "net saved", "http_error", "nonzero_exit", "req:executing_tool",
		"accept arguments_valid tool_succeeded output_captured eligible pruned written"} {
		assert.Contains(t, stdout, want)
	}
	empty := tracetest.Decode(t, tracetest.New(t).Trace(1))
	empty.Steps = nil
	stdout, _, code = runTrace(t, "stats", writtenTrace(t, tracetest.Encode(empty)))
	assert.Equal(t, traceInvalid, code)
	assert.Contains(t, stdout, "not counted: 1 line without a record")
}
