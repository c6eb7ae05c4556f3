package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// BenchmarkHook runs all of a hook but its process: the message in, the answer out. Its profile says what a run waits for.
func BenchmarkHook(b *testing.B) {
	for _, size := range []struct {
		name  string
		tests int
	}{{"20kB", 400}, {"1MB", 19_000}} {
		b.Run(size.name, func(b *testing.B) {
			dir := b.TempDir()
			lookup := func(name string) (string, bool) { return dir, name == "XDG_STATE_HOME" || name == "HOME" }
			message := testRun(b, dir, size.tests)
			b.SetBytes(int64(len(message)))
			b.ReportAllocs()
			for b.Loop() {
				var out bytes.Buffer
				Run(context.Background(), agent.Named("claude"), Tools{}, lookup, bytes.NewReader(message), &out)
				require.NotZero(b, out.Len())
			}
		})
	}
}

// testRun returns Claude Code's message about a test run in which one of many tests fails.
func testRun(b *testing.B, dir string, tests int) []byte {
	transcript := filepath.Join(dir, "transcript.jsonl")
	require.NoError(b, os.WriteFile(transcript, []byte(
		`{"type":"user","sessionId":"s","message":{"role":"user","content":"find out which test fails, and why"}}`+"\n"+
			`{"type":"assistant","sessionId":"s","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}`+"\n"), 0o600))
	var log strings.Builder
	for i := range tests {
		fmt.Fprintf(&log, "=== RUN   TestCase%d\n--- PASS: TestCase%d (0.00s)\n", i, i)
	}
	_, _ = io.WriteString(&log, "    ledger_test.go:42: want 3 retries, got 4\n--- FAIL: TestLedger (0.01s)\n")
	message, err := json.Marshal(map[string]any{
		"session_id": "s", "transcript_path": transcript, "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "t1",
		"tool_input":    map[string]any{"command": "go test ./...", "description": "which test failed"},
		"tool_response": map[string]any{"stdout": log.String(), "stderr": "", "interrupted": false},
	})
	require.NoError(b, err)
	return message
}
