package verbs

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/tracetest"
)

// converse runs a server with the lines as its whole input.
func converse(t *testing.T, root string, env []string, lines ...string) (stdout, stderr string, code int) {
	t.Helper()
	path, err := builtProgram()
	require.NoError(t, err)
	cmd := exec.Command(path)
	cmd.Env = append(append(os.Environ(), "HOME="+root, "MCP_PRUNER_CWD="+root, "PRUNER_URL=embedded"), env...)
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n"))
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	_ = cmd.Run() // the exit code says it all
	return out.String(), log.String(), cmd.ProcessState.ExitCode()
}

func askLine(id int, tool string, args map[string]any) string {
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": args}})
	if err != nil {
		panic(err)
	}
	return string(line)
}

// secretCalls put the word "secret" into everything a call can hold.
func secretCalls(t *testing.T) (root string, lines []string) {
	root = t.TempDir()
	text := strings.Repeat("func secretContent() {\n\treturn other()\n}\n\nvar filler = 1\n\n", 200)
	require.NoError(t, os.WriteFile(filepath.Join(root, "secretpath.go"), []byte(text), 0o600))
	focus := "what is the secretquestion about filler"
	return root, []string{
		askLine(1, "read", map[string]any{"file_path": "secretpath.go", "context_focus_question": focus}),
		askLine(2, "read", map[string]any{"file_path": "secretmissing.go"}),
		askLine(3, "bash", map[string]any{"command": "echo secretcommand; cat secretpath.go; exit 0", "context_focus_question": focus}),
		askLine(4, "bash", map[string]any{"command": "echo secretcommand >&2; exit 3"}),
		askLine(5, "bash", map[string]any{"command": "true", "cwd": "secretcwd"}),
		askLine(6, "grep", map[string]any{"pattern": "secretC", "path": "secretpath.go", "context_focus_question": focus}),
		askLine(7, "grep", map[string]any{"pattern": "secretpattern["}),
		askLine(8, "read", map[string]any{"secretargument": "secretvalue"}),
		`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"read","arguments":"secret"}}`,
		`{"secret`,
	}
}

func TestATraceSaysNothingOfWhatCallsWereAbout(t *testing.T) {
	root, lines := secretCalls(t)
	trace := filepath.Join(t.TempDir(), "trace.jsonl")
	stdout, _, _ := converse(t, root, []string{"MCP_PRUNER_TRACE=" + trace}, lines...)
	require.Equal(t, len(lines), strings.Count(stdout, "\n"))
	raw, err := os.ReadFile(trace)
	require.NoError(t, err)
	require.Equal(t, len(lines), bytes.Count(raw, []byte("\n")))
	assert.NotContains(t, strings.ToLower(string(raw)), "secret")
	assert.Equal(t, 1, strings.Count(string(raw), root), "the first line names the root")
	require.Empty(t, verifiedTrace(t, raw).Problems)
}

// What stands beside a pruned text, and beside nothing, is in order.
func TestTracesOfAnyPrunedTextAreInOrder(t *testing.T) {
	for _, pruned := range []string{"", " ", "x", "(filtered 3 lines)\n"} {
		service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_ = json.NewEncoder(w).Encode(map[string]string{"pruned_code": pruned})
		}))
		defer service.Close()
		root := t.TempDir()
		// Each call has its own file: one that asks again for what another pruned comes whole, and calls run side by side.
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(name+" line\nline"), 0o600))
		}
		trace := filepath.Join(t.TempDir(), "trace.jsonl")
		lines := []string{
			askLine(1, "read", map[string]any{"file_path": "a", "context_focus_question": "q"}),
			askLine(2, "grep", map[string]any{"pattern": "line", "context_focus_question": "q"}),
			askLine(3, "grep", map[string]any{"pattern": "line", "max_matches": 1, "context_focus_question": "q"}),
		}
		for i, line := range []string{"cat b", "cat c >&2", "cat d; cat d >&2", "echo out; cat e >&2", "true"} {
			lines = append(lines, askLine(4+i, "bash", map[string]any{"command": line, "context_focus_question": "q"}))
		}
		converse(t, root, []string{"MCP_PRUNER_TRACE=" + trace, "PRUNER_URL=" + service.URL}, lines...)
		raw, err := os.ReadFile(trace)
		require.NoError(t, err)
		require.Equal(t, len(lines), bytes.Count(raw, []byte("\n")))
		assert.GreaterOrEqual(t, bytes.Count(raw, []byte(`"pruned_bytes"`)), 5, string(raw))
		assert.Empty(t, verifiedTrace(t, raw).Problems, "%q", pruned)
	}
}

func TestTraceHasDetailOnlyWhenAskedFor(t *testing.T) {
	root, lines := secretCalls(t)
	trace := filepath.Join(t.TempDir(), "trace.jsonl")
	converse(t, root, []string{"MCP_PRUNER_TRACE=" + trace, "MCP_PRUNER_TRACE_DETAIL=full"}, lines...)
	raw, err := os.ReadFile(trace)
	require.NoError(t, err)
	for _, want := range []string{`"path":"secretpath.go"`, `"question":"what is the secretquestion about filler"`, `"command":"echo secretcommand; cat secretpath.go; exit 0"`, `"pattern":"secretC"`} {
		assert.Contains(t, string(raw), want)
	}
	assert.NotContains(t, string(raw), "secretContent", "never what a tool returned")
	assert.NotContains(t, string(raw), "secretvalue")
	require.Empty(t, verifiedTrace(t, raw).Problems)
}

// Calls about the same thing share a subject within a session, and only there.
func TestSubjectsAreVeiled(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "a"), []byte("x"), 0o600))
	trace := filepath.Join(t.TempDir(), "trace.jsonl")
	for range 2 {
		converse(t, root, []string{"MCP_PRUNER_TRACE=" + trace},
			askLine(1, "read", map[string]any{"file_path": "a"}), askLine(2, "read", map[string]any{"file_path": "./a", "start_line": 1}), askLine(3, "bash", map[string]any{"command": "a"}))
	}
	raw, err := os.ReadFile(trace)
	require.NoError(t, err)
	subjects := map[string]map[string]int{} // by session
	parts := map[string]int{}
	for _, line := range tracetest.Lines(raw) {
		r := tracetest.Decode(t, line)
		if subjects[r.Session] == nil {
			subjects[r.Session] = map[string]int{}
		}
		subjects[r.Session][r.Subject]++
		parts[r.Tool] += map[bool]int{true: 1}[r.Part]
	}
	require.Len(t, subjects, 2)
	assert.Equal(t, map[string]int{"read": 2, "bash": 0}, parts, "a read with line numbers, in each session")
	seen := map[string]bool{}
	for _, of := range subjects {
		assert.Len(t, of, 2, "the file twice, the command once")
		for subject := range of {
			assert.Regexp(t, `^[0-9a-f]{16}$`, subject)
			assert.False(t, seen[subject], "the same in both sessions")
			seen[subject] = true
		}
	}
}

func TestAFullDiskDisturbsNoRequest(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full here")
	}
	root, lines := secretCalls(t)
	stdout, stderr, code := converse(t, root, []string{"MCP_PRUNER_TRACE=/dev/full"}, lines...)
	assert.Equal(t, 0, code)
	assert.Equal(t, len(lines), strings.Count(stdout, "\n"))
	assert.Equal(t, 1, strings.Count(stderr, `"event":"mcp_pruner.trace_failed"`), "told once")
	assert.Contains(t, stderr, `no space left on device`)
}

func TestATraceThatCannotBeOpenedIsAStartError(t *testing.T) {
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "no/such/folder")} {
		stdout, stderr, code := converse(t, t.TempDir(), []string{"MCP_PRUNER_TRACE=" + path}, askLine(1, "read", nil))
		assert.Equal(t, 2, code)
		assert.Empty(t, stdout)
		assert.Contains(t, stderr, `"event":"mcp_pruner.start_failed"`)
		assert.Contains(t, stderr, "MCP_PRUNER_TRACE: ")
	}
}

// The client is gone when the answer is to be written: the record says so.
func TestAnAnswerThatNeverArrivedIsUnwritten(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(t.TempDir(), "trace.jsonl")
	path, err := builtProgram()
	require.NoError(t, err)
	cmd := exec.Command(path)
	cmd.Env = append(os.Environ(), "HOME="+root, "MCP_PRUNER_CWD="+root, "PRUNER_URL=", "MCP_PRUNER_TRACE="+file)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = io.WriteString(in, askLine(1, "bash", map[string]any{"command": "until [ -e gone ]; do sleep 0.01; done; echo done"})+"\n")
	require.NoError(t, err)
	require.NoError(t, out.Close())
	require.NoError(t, os.WriteFile(filepath.Join(root, "gone"), nil, 0o600))
	_ = cmd.Wait()

	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := tracetest.Lines(raw)
	require.Len(t, lines, 1)
	r := tracetest.Decode(t, lines[0])
	assert.Equal(t, "internal_error", r.Outcome)
	assert.Equal(t, trace.Unwritten, r.Answer)
	assert.Equal(t, "E11", r.Steps[len(r.Steps)-1].Row)
	assert.Zero(t, r.Bytes)
	require.Empty(t, verifiedTrace(t, raw).Problems)
}

// A trace is rotated while it is written, and its parts are one trace.
func TestARotatedTraceIsOneTrace(t *testing.T) {
	root, lines := secretCalls(t)
	dir := t.TempDir()
	trace := filepath.Join(dir, "trace.jsonl")
	for range 3 {
		converse(t, root, []string{"MCP_PRUNER_TRACE=" + trace, "MCP_PRUNER_TRACE_MAX_BYTES=4000"}, lines...)
	}
	files, err := filepath.Glob(trace + "*")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 3)
	stdout, stderr, code := runTrace(t, append([]string{"verify"}, files...)...)
	require.Equal(t, traceOK, code, stdout+stderr)
	assert.Contains(t, stdout, "ok: 30 records (request 30) of 3 processes")
	assert.Equal(t, 1, strings.Count(stdout, "note:"), "only that there are no heads: %s", stdout)
}

// A server says where it works, and how it ended.
func TestAServerNamesItsRootAndItsEnd(t *testing.T) {
	root := t.TempDir()
	_, stderr, code := converse(t, root, nil, askLine(1, "read", map[string]any{"file_path": "a"}))
	require.Equal(t, 0, code)
	resolvedRoot := resolved(t, root)
	assert.Contains(t, stderr, `"event":"mcp_pruner.ready","data":{"root":`+strconv.Quote(resolvedRoot)+`}`)
	assert.Contains(t, stderr, `"event":"mcp_pruner.stopped","data":{"graceful":true,`)
}
