//go:build linux

package verbs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/tracetest"
)

// attacked is a server whose agent attacks it with its own bash, and the log that the client keeps.
type attacked struct {
	*tracedServer
	trace string
	log   *tracetest.HeadLog
	asked int
}

func attack(t *testing.T) *attacked {
	t.Helper()
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "a.txt"), []byte("text\n"), 0o600))
	a := &attacked{trace: filepath.Join(t.TempDir(), "trace.jsonl"), log: new(tracetest.HeadLog)}
	a.tracedServer = prepareServer(t, root, "MCP_PRUNER_TRACE="+a.trace, "PRUNER_URL=")
	a.cmd.Stderr = a.log
	require.NoError(t, a.cmd.Start())
	return a
}

// reads makes n calls of read and waits for their answers.
func (a *attacked) reads(t *testing.T, n int) {
	t.Helper()
	for range n {
		a.asked++
		require.NoError(t, a.call(a.asked, "read", map[string]any{"file_path": "a.txt"}))
		_, err := a.out.ReadString('\n')
		require.NoError(t, err)
	}
}

// runs lets the agent run a command that kills the server.
func (a *attacked) runs(t *testing.T, command string) {
	t.Helper()
	a.asked++
	require.NoError(t, a.call(a.asked, "bash", map[string]any{"command": command}))
	_ = a.cmd.Wait() // it was killed
}

// verify verifies the trace with the log that the client kept.
func (a *attacked) verify(t *testing.T) (stdout string, code int) {
	t.Helper()
	heads := filepath.Join(t.TempDir(), "events.jsonl")
	require.NoError(t, os.WriteFile(heads, a.log.Bytes(), 0o600))
	stdout, stderr, code := runTrace(t, "verify", "--heads", heads, a.trace)
	return stdout + stderr, code
}

// TestAnAgentCannotCutItsOwnTrace plays an agent that finds the trace through its server's open files, keeps the first
// line, removes the notes and kills the server.
func TestAnAgentCannotCutItsOwnTrace(t *testing.T) {
	a := attack(t)
	a.reads(t, 20)
	a.runs(t, fmt.Sprintf(`f=%s; for i in 1 2 3 4 5 6 7 8 9; do [ -s "$f" ] && break; sleep 0.1; done
head -n 1 "$f" > "$f.cut"; cat "$f.cut" > "$f"; rm -f "$f.cut" "$f".notes-*; kill -9 $PPID`, a.trace))
	raw, err := os.ReadFile(a.trace)
	require.NoError(t, err)
	require.Equal(t, 1, bytes.Count(raw, []byte("\n")), "the attack worked")
	out, code := a.verify(t)
	assert.Equal(t, traceInvalid, code, out)
	assert.Contains(t, out, "BAD: the log names 20 requests that no record here describes")
}

// TestACommandThatKillsItsServerIsRecorded: the log and the trace have the call before its command starts.
func TestACommandThatKillsItsServerIsRecorded(t *testing.T) {
	a := attack(t)
	a.runs(t, "touch evil; kill -9 $PPID")
	started := regexp.MustCompile(`"event":"tool\.exec_start","request_id":"(req_[0-9a-f]+)"`).FindStringSubmatch(a.log.String())
	require.NotNil(t, started, "the log: %s", a.log)
	out, code := a.verify(t)
	assert.Equal(t, traceUnproved, code, out)
	assert.Contains(t, out, "which was killed, are in its side file")

	next, err := trace.Open(a.trace, trace.Options{})
	require.NoError(t, err)
	require.NoError(t, next.Close())
	stdout, stderr, code := runTrace(t, "list", "--json", a.trace)
	require.Equal(t, traceOK, code, stderr)
	var records []struct{ ID, Tool, Outcome string }
	require.NoError(t, json.Unmarshal([]byte(stdout), &records), stdout)
	require.Len(t, records, 1)
	assert.Equal(t, []string{started[1], "bash", "executing_tool"}, []string{records[0].ID, records[0].Tool, records[0].Outcome})
	raw, err := os.ReadFile(a.trace)
	require.NoError(t, err)
	assert.NotContains(t, string(raw), "evil", "the note holds no command")
}

// TestAnHonestTraceOfAYoungServerIsAccepted: servers that are killed after a few answers leave traces that nobody calls
// forged.
func TestAnHonestTraceOfAYoungServerIsAccepted(t *testing.T) {
	for _, answers := range []int{1, 2, 10, 100} {
		a := attack(t)
		a.reads(t, answers)
		require.NoError(t, a.cmd.Process.Kill())
		_ = a.cmd.Wait()
		out, code := a.verify(t)
		assert.Equal(t, traceUnproved, code, "%d answers: %s", answers, out)
		next, err := trace.Open(a.trace, trace.Options{Heads: a.log})
		require.NoError(t, err)
		require.NoError(t, next.Close())
		out, code = a.verify(t)
		assert.Equal(t, traceUnproved, code, "%d answers, folded in: %s", answers, out)
	}
}
