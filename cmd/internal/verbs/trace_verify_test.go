package verbs

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/audit"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/tracetest"
)

// verifiedTrace verifies a trace and returns its verdict.
func verifiedTrace(t *testing.T, text []byte) (v audit.Verdict) {
	t.Helper()
	trace, err := audit.Verify([]*audit.Source{audit.NewSource("trace", bytes.NewReader(text))}, audit.Options{All: true})
	require.NoError(t, err)
	return trace.Verdict()
}

// writtenTrace writes a trace into a file.
func writtenTrace(t *testing.T, text []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "trace.jsonl")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path
}

func runTrace(t testing.TB, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	code, stdout, stderr = runVerb(t, traceCommand, os.Environ(), "", args...)
	return stdout, stderr, code
}

func executeTrace(t testing.TB, args []string, stdout, stderr io.Writer) int {
	p := command.Process{Args: args, Env: os.Environ(), Stdin: strings.NewReader(""), Stdout: stdout, Stderr: stderr}
	return command.Verb(t.Context(), traceCommand(p), p)
}

func TestVerifyTellsWhereAndWhy(t *testing.T) {
	r := tracetest.Decode(t, tracetest.New(t).Trace(1))
	r.Steps = r.Steps[:len(r.Steps)-1]
	path := writtenTrace(t, tracetest.Encode(r))
	stdout, _, code := runTrace(t, "verify", path)
	assert.Equal(t, traceInvalid, code)
	assert.Regexp(t, `(?m)^BAD: .*trace\.jsonl: line 1: it ends in req:\w+, which is not a terminal state$`, stdout)
	stdout, _, code = runTrace(t, "verify", "--json", path)
	assert.Equal(t, traceInvalid, code)
	var v audit.Verdict
	require.NoError(t, json.Unmarshal([]byte(stdout), &v))
	assert.False(t, v.OK)
	assert.Len(t, v.Problems, 1)
}

func TestWrongUseOfTrace(t *testing.T) {
	t.Setenv("MCP_PRUNER_TRACE", "")
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "which FILE?"},
		{[]string{"verify"}, "which FILE?"},
		{[]string{"verify", "--since", "24h", "x"}, "--since selects records to show; trace verify reads all of them"},
		{[]string{"stats", "--since", "soon", "x"}, `--since "soon" is neither a duration`},
		{[]string{"list", "--until", "soon", "x"}, `--until "soon" is neither a duration`},
		{[]string{"list", "--csv", "--json", "x"}, "--json or --csv?"},
		{[]string{"stats", "--limit", "-1", "x"}, "--limit is a number of bytes, not -1"},
	} {
		_, stderr, code := runTrace(t, c.args...)
		assert.Equal(t, command.Usage, code, c.args)
		assert.Contains(t, stderr, c.want)
	}
	stdout, _, code := runTrace(t, "--help")
	assert.Equal(t, traceOK, code)
	assert.Contains(t, stdout, "mcp-pruner trace [command]")
	_, stderr, code := runTrace(t, "verify", "no such file")
	assert.Equal(t, traceInvalid, code)
	assert.Contains(t, stderr, "no such file")
}

// A trace is cut where its server, log rotation or a person cut it, and the parts lie
// about under any names.
func TestFilesAreReadInTheOrderOfTheirTimes(t *testing.T) {
	lines, dir := tracetest.Lines(tracetest.New(t).Trace(400)), t.TempDir()
	part := func(name string, from, to int) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, bytes.Join(lines[from:to], nil), 0o600))
		return path
	}
	files := []string{
		part("t.jsonl", 300, 400), part("t.jsonl.1", 200, 300),
		part("t.jsonl.20261121T050000.000000000Z-0123456789abcdef", 100, 200),
		part("z/t.jsonl.20261120T050000.000000000Z-0123456789abcdef", 0, 100),
	}
	require.NoError(t, os.WriteFile(files[0]+".empty", nil, 0o600))
	stdout, stderr, code := runTrace(t, append([]string{"verify", files[0] + ".empty"}, files...)...)
	assert.Equal(t, traceOK, code, stdout+stderr)
	assert.Contains(t, stdout, "ok: 400 records")
	assert.NotContains(t, stdout, "first lines")

	pipe := bytes.NewReader(bytes.Join(lines[300:], nil))
	var out bytes.Buffer
	p := command.Process{Args: append([]string{"verify", "-"}, files[1:]...), Stdin: pipe, Stdout: &out, Stderr: &out}
	assert.Equal(t, traceOK, command.Verb(t.Context(), traceCommand(p), p), "a pipe is put in order, too")
	assert.Contains(t, out.String(), "ok: 400 records")
}

// The variable names the trace when no argument does.
func TestTheVariableNamesTheTrace(t *testing.T) {
	path := writtenTrace(t, tracetest.New(t).Trace(3))
	t.Setenv("MCP_PRUNER_TRACE", path)
	stdout, _, code := runTrace(t, "verify")
	assert.Equal(t, traceOK, code)
	assert.Contains(t, stdout, "ok: 3 records")
}

// fullDisk is a disk that takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestAVerdictThatCannotBeWrittenIsNone(t *testing.T) {
	path := writtenTrace(t, tracetest.New(t).Trace(3))
	for _, args := range [][]string{{"verify", path}, {"verify", "--json", path}, {"stats", path}, {"list", path}, {"list", "--csv", path}, {"report", "-o", "-", path}} {
		var stderr bytes.Buffer
		assert.Equal(t, traceInvalid, executeTrace(t, args, fullDisk{}, &stderr), args)
		assert.Contains(t, stderr.String(), "no space left on device", args)
	}
}

func TestVerifySaysOnlyWhatItSaw(t *testing.T) {
	lines := tracetest.Lines(tracetest.New(t).Trace(60))
	write := func(text []byte) (stdout string) {
		stdout, _, _ = runTrace(t, "verify", writtenTrace(t, text))
		return stdout
	}
	begun := write(bytes.Join(lines[10:], nil))
	assert.Contains(t, begun, "or were taken out; nothing here tells which")
	assert.Contains(t, begun, "from the first to the last line here of each process none is changed or missing")
	assert.Equal(t, "ok, but empty: there is no record in it, so nothing was verified\n", write(nil))
	assert.Contains(t, write([]byte("\n\n")), "line 1: the line is empty, the first of 2 such")
	assert.Contains(t, write(bytes.ReplaceAll(bytes.Join(lines, nil), []byte("\n"), []byte("\r\n"))), "line 1: the line ends in CR LF")
}

// Whoever forges a record chooses its names, and none of them may write lines of its
// own into what verify and stats print.
func TestForgedNamesPrintNoLines(t *testing.T) {
	const name = "x\x1b[2K\nok: 5 records\u202e\u009b"
	first := tracetest.Decode(t, tracetest.New(t).Trace(1))
	first.ID, first.Machine, first.Outcome, first.Steps[0].Why, first.Steps[0].From, first.Steps[0].Trigger = name, name, name, name, name, name
	second := *first
	second.Writer = "aaaaaaaaaaaaaaaa"
	path := writtenTrace(t, slices.Concat(tracetest.Encode(first), tracetest.Encode(&second)))
	for _, args := range [][]string{{"verify", "--all", path}, {"stats", path}} {
		stdout, stderr, _ := runTrace(t, args...)
		require.Empty(t, stderr)
		assert.NotContains(t, stdout, "\nok: 5")
		assert.Contains(t, stdout, `x\x1b[2K\nok: 5 records\u202e\u009b`)
		assert.NotRegexp(t, "[\x1b\u009b\u202e]", stdout)
	}
}
