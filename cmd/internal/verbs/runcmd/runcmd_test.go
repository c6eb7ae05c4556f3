package runcmd_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// call runs a verb in this process.
func call(t *testing.T, name string, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	p := command.Process{Args: args, Env: env, Stdout: &out, Stderr: &err}
	code = command.Verb(t.Context(), verbs(p)[name], p)
	return code, out.String(), err.String()
}

const connects = `printf '%s\n' "$@" >"$WORK/args"; env >"$WORK/env"
echo '{"type":"system","subtype":"init","tools":["mcp__pruner__read"],"mcp_servers":[{"name":"pruner","status":"connected"}]}'
echo '{"type":"result","subtype":"success","result":"the answer"}'
exit 4
`

func TestRun(t *testing.T) {
	p := newPlace(t, map[string]string{"claude": connects})
	p.env = append(p.env, "JEEVES_MCP_PRUNER_PATH=/bin/true")
	code, stdout, stderr := call(t, "run", p.env, "--provider", "claude", "--model", "opus", "--", "two", "words")
	assert.Equal(t, 4, code, "the client's exit code")
	assert.Equal(t, "the answer\n", stdout)
	args, err := os.ReadFile(filepath.Join(p.dir, "args"))
	require.NoError(t, err)
	given := lines(string(args))
	assert.Equal(t, []string{"--model", "opus", "--", "two words"}, given[len(given)-4:])

	printed := lines(stderr)
	assert.Contains(t, printed[0], `"event":"mcp_pruner.ready"`)
	assert.NotContains(t, printed[0], "request_id")
	assert.Equal(t, "mcp-pruner: claude: run:init > run:mcp_pruner_starting > run:mcp_pruner_running > run:shutdown; "+
		"calls 0, pruned 0; saved 0 of 0 bytes, about 0 tokens; exit 4", printed[len(printed)-1])
}

// TestRunFiles checks that events and trace go to the given files, that the server is told to write its
// trace to the same file, and that a second run appends.
func TestRunFiles(t *testing.T) {
	p := newPlace(t, map[string]string{"claude": connects})
	p.env = append(p.env, "JEEVES_MCP_PRUNER_PATH=/bin/true")
	events, trace := filepath.Join(p.dir, "events"), filepath.Join(p.dir, "trace")
	for range 2 {
		_, _, stderr := call(t, "run", p.env, "--provider=claude", "--events="+events, "--trace", trace, "--", "x")
		assert.Len(t, lines(stderr), 1, "only the summary")
	}
	logged, err := os.ReadFile(events)
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(string(logged), `"event":"mcp_pruner.ready"`))
	env, err := os.ReadFile(filepath.Join(p.dir, "env"))
	require.NoError(t, err)
	assert.Contains(t, string(env), "MCP_PRUNER_TRACE="+trace+"\n")

	relative, err := filepath.Rel(mustGetwd(t), trace)
	require.NoError(t, err)
	call(t, "run", append(p.env, "MCP_PRUNER_TRACE="+relative), "--provider=claude", "--", "x")
	env, err = os.ReadFile(filepath.Join(p.dir, "env"))
	require.NoError(t, err)
	assert.Contains(t, string(env), "MCP_PRUNER_TRACE="+trace+"\n", "the environment's own, made absolute")

	written, err := os.ReadFile(trace)
	require.NoError(t, err)
	require.Len(t, lines(string(written)), 3)
	for _, line := range lines(string(written)) {
		var record struct {
			Machine string
			Outcome string
			Client  string
			Server  string
			Steps   []struct{ From, Trigger, To string }
		}
		require.NoError(t, json.Unmarshal([]byte(line), &record))
		assert.Equal(t, fsm.RunTable().Name, record.Machine)
		assert.Equal(t, "shutdown", record.Outcome)
		assert.Equal(t, "claude", record.Client)
		assert.Equal(t, "1.2.3", record.Server)
		assert.Len(t, record.Steps, 3)
	}
}

// TestRunRotatesItsTrace checks that the size limit is the one for the server's trace, and that a limit
// that the server refuses has no effect.
func TestRunRotatesItsTrace(t *testing.T) {
	p := newPlace(t, map[string]string{"claude": connects})
	trace := filepath.Join(p.dir, "trace")
	for _, limit := range []string{"100", "100", "100", "soon", "-1", ""} {
		env := append(p.env, "JEEVES_MCP_PRUNER_PATH=/bin/true", "MCP_PRUNER_TRACE_MAX_BYTES="+limit)
		call(t, "run", env, "--provider=claude", "--trace", trace, "--", "x")
	}
	aside, err := filepath.Glob(trace + ".*")
	require.NoError(t, err)
	assert.Len(t, aside, 2)
	written, err := os.ReadFile(trace)
	require.NoError(t, err)
	assert.Len(t, lines(string(written)), 4)
}

func TestRunRefuses(t *testing.T) {
	p := newPlace(t, map[string]string{"claude": connects})
	for _, c := range []struct{ args, want string }{
		{"-- x", "name a client first, claude, codex, gemini or opencode, or --provider claude|codex"},
		{"--provider -- x", "flag needs an argument: --provider"},
		{"--provider gemini -- x", `invalid argument "gemini" for "--provider" flag: not one of claude|codex`},
		{"--provider claude --start-timeout soon -- x", `invalid argument "soon" for "--start-timeout" flag: not a number of seconds`},
		{"--provider claude --start-timeout 0 -- x", `invalid argument "0" for "--start-timeout" flag: not a number of seconds`},
		{"--provider claude --start-timeout 5m -- x", `invalid argument "5m" for "--start-timeout" flag: not a number of seconds`},
		{"--provider claude --shutdown-timeout 1m30 -- x", `invalid argument "1m30" for "--shutdown-timeout" flag: not a number of seconds`},
		{"--provider claude --start-timeout -5 -- x", `invalid argument "-5" for "--start-timeout" flag: not a number of seconds`},
		{"--provider claude --trace /nowhere/x -- x", "--trace: open /nowhere/x: no such file or directory"},
		{"--provider claude --trace= -- x", `invalid argument "" for "--trace" flag: no file is named`},
		{"--provider claude --events= -- x", `invalid argument "" for "--events" flag: no file is named`},
		{"--provider claude --events /nowhere/x -- x", "--events: open /nowhere/x: no such file or directory"},
	} {
		code, stdout, stderr := call(t, "run", p.env, strings.Fields(c.args)...)
		assert.Equal(t, 2, code, c.args)
		assert.Empty(t, stdout)
		assert.Contains(t, stderr, c.want, c.args)
	}
	_, err := os.Stat(filepath.Join(p.dir, "args"))
	assert.ErrorIs(t, err, os.ErrNotExist, "the client was not started")
}

func TestHelp(t *testing.T) {
	for _, name := range []string{"run"} {
		code, stdout, stderr := call(t, name, nil, "--help")
		assert.Zero(t, code)
		assert.Contains(t, stdout, "Usage:\n  mcp-pruner "+name)
		assert.Contains(t, stdout, "Flags:\n")
		assert.Empty(t, stderr)
	}
}

// TestRunSaysThatNothingIsInjected checks the note that no server is injected and how to change that, and
// that --pruner changes it.
func TestRunSaysThatNothingIsInjected(t *testing.T) {
	p := newPlace(t, map[string]string{"claude": `env >"$WORK/env"; printf '%s\n' "$@" >"$WORK/args"; echo done`})
	env := []string{"JEEVES_MCP_PRUNER_PATH=/bin/true"}
	for _, entry := range p.env {
		if !strings.HasPrefix(entry, "JEEVES_PRUNER_ENABLED=") {
			env = append(env, entry)
		}
	}
	for _, transport := range []string{"stdio", "http"} {
		code, _, stderr := call(t, "run", env, "--provider", "claude", "--transport", transport, "--", "x")
		assert.Zero(t, code)
		assert.Contains(t, stderr, "mcp-pruner: claude runs without the server: add --pruner embedded")
	}
	code, _, stderr := call(t, "run", append(env, "PRUNER_URL=http://127.0.0.1:1/"), "--provider", "claude", "--pruner", "embedded", "--", "x")
	assert.Zero(t, code)
	assert.NotContains(t, stderr, "without the server")
	args, err := os.ReadFile(filepath.Join(p.dir, "args"))
	require.NoError(t, err)
	assert.Contains(t, string(args), `"PRUNER_URL":"embedded"`)
	code, _, stderr = call(t, "run", env, "--provider", "claude", "--pruner=", "--", "x")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "want embedded, the URL of a service, or off")
}

func mustGetwd(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	return dir
}
