package verbs

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/tracetest"
)

// fakeClaude is a client that starts the server of its environment for one call, or says
// that it is connected to the one over HTTP.
const fakeClaude = `#!/bin/sh
echo '{"type":"system","subtype":"init","tools":["mcp__pruner__read"],"mcp_servers":[{"name":"pruner","status":"connected"}]}'
[ -z "$CALL" ] || echo "$CALL" | "$PROGRAM" >/dev/null 2>"$WORK/server.log"
echo '{"type":"result","subtype":"success","result":"done"}'
`

// runClient runs the fake client under the real runner and returns the records of the
// trace and the run's events.
func runClient(t *testing.T, args []string, env ...string) (work string, records []*trace.Record, events []byte) {
	t.Helper()
	path, err := builtProgram()
	require.NoError(t, err)
	work = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(work, "claude"), []byte(fakeClaude), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(work, "a.txt"), []byte("text\n"), 0o600))
	file, log := filepath.Join(work, "trace.jsonl"), filepath.Join(work, "events")
	cmd := exec.Command(path, append([]string{"run", "--provider", "claude", "--pruner", "embedded", "--trace", file, "--events", log}, args...)...)
	cmd.Args = append(cmd.Args, "--", "look around")
	cmd.Dir = work
	cmd.Env = append([]string{"PATH=" + work + ":/usr/bin:/bin", "HOME=" + work, "WORK=" + work, "PROGRAM=" + path}, env...)
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, string(said))
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Empty(t, verifiedTrace(t, raw).Problems)
	for _, line := range tracetest.Lines(raw) {
		records = append(records, tracetest.Decode(t, line))
	}
	events, err = os.ReadFile(log)
	require.NoError(t, err)
	return work, records, events
}

// A run, its requests and the lines of both logs carry one id.
func TestRunsAndRequestsJoin(t *testing.T) {
	work, records, events := runClient(t, nil, "CALL="+askLine(1, "read", map[string]any{"file_path": "a.txt"}))
	require.Len(t, records, 2)
	request, run := records[0], records[1]
	assert.Equal(t, []string{"request", "run"}, []string{request.Machine, run.Machine})
	assert.Regexp(t, `^run_[0-9a-f]{16}$`, run.ID)
	host, err := os.Hostname()
	require.NoError(t, err)
	for _, r := range records {
		require.NotNil(t, r.Process, r.Machine)
		assert.Equal(t, run.ID, r.Process.Run, r.Machine)
		assert.Equal(t, host, r.Process.Host, r.Machine)
		assert.Equal(t, resolved(t, work), resolved(t, r.Process.Root), r.Machine)
		assert.NotEmpty(t, r.Process.User, r.Machine)
	}
	log, err := os.ReadFile(filepath.Join(work, "server.log"))
	require.NoError(t, err)
	for _, lines := range [][]byte{events, log} {
		require.NotEmpty(t, lines)
		for _, line := range bytes.Split(bytes.TrimSpace(lines), []byte("\n")) {
			var e struct {
				RunID string `json:"run_id"`
			}
			require.NoError(t, json.Unmarshal(line, &e), string(line))
			assert.Equal(t, run.ID, e.RunID, string(line))
		}
	}
	assert.Regexp(t, `"request_id":"`+request.ID+`"`, string(log))

	stdout, stderr, code := runTrace(t, "list", "--run", run.ID, "--json", filepath.Join(work, "trace.jsonl"))
	require.Equal(t, traceOK, code, stderr)
	assert.Len(t, regexp.MustCompile(`"run":"`+run.ID+`"`).FindAllString(stdout, -1), 2)
	stdout, _, _ = runTrace(t, "list", "--run", "run_none", "--json", filepath.Join(work, "trace.jsonl"))
	assert.Equal(t, "[]\n", stdout)
}

func resolved(t *testing.T, dir string) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	return path
}

// The record of a run says how its server ended; the dialogues of testdata/runner-http
// have servers that were killed.
func TestARunRecordsHowItsServerEnded(t *testing.T) {
	_, records, _ := runClient(t, []string{"--transport", "http"})
	run := records[len(records)-1]
	require.Equal(t, "run-http", run.Machine)
	assert.Equal(t, &trace.Ended{Graceful: true}, run.Ended)
	_, records, _ = runClient(t, nil)
	assert.Nil(t, records[len(records)-1].Ended, "the client owns a server over stdio")
}
