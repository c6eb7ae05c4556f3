package fsm

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLogWritesTheSpecifiedLine(t *testing.T) {
	var out bytes.Buffer
	log, at := JSONSinkAt(&out, LevelDebug), time.Date(2026, 1, 2, 3, 4, 5, 6000, time.FixedZone("", 3600))
	log(at, Event{Name: "tool.exec_ok", Level: LevelInfo, RequestID: "req_1", RunID: "run_1", Data: Facts{"tool": "<&>\n", "bytes": 3, "duration_ms": int64(4)}})
	log(at, Event{Name: "mcp_pruner.not_running", Level: LevelWarn})

	lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	require.Len(t, lines, 2)
	var first map[string]any
	require.NoError(t, json.Unmarshal(lines[0], &first))
	assert.Equal(t, map[string]any{
		"ts": "2026-01-02T02:04:05.000006Z", "level": "info", "event": "tool.exec_ok", "request_id": "req_1", "run_id": "run_1",
		"data": map[string]any{"tool": "<&>\n", "bytes": 3.0, "duration_ms": 4.0},
	}, first)
	var second map[string]any
	require.NoError(t, json.Unmarshal(lines[1], &second))
	assert.Equal(t, "warn", second["level"])
	assert.NotContains(t, second, "request_id")
	assert.NotContains(t, second, "run_id")
	assert.NotContains(t, second, "data")
}

func TestLogDropsWhatIsBelowTheLevel(t *testing.T) {
	var out bytes.Buffer
	log := JSONSink(&out, LevelWarn)
	log(Event{Name: "tool.exec_ok", Level: LevelInfo, RequestID: "req_1"})
	assert.Empty(t, out.String())
}
