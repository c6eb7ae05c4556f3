package tools

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// newTools returns the tools over a fresh root, by name.
func newTools(t *testing.T, s Settings) map[string]Tool {
	t.Helper()
	if s.Root == "" {
		s.Root = t.TempDir()
	}
	if s.Env == nil { // a login shell's profile is not ours to run, nor to kill half way
		home := t.TempDir()
		s.Env = func() []string { return append(os.Environ(), "HOME="+home) }
	}
	list, err := New(s)
	require.NoError(t, err)
	byName := map[string]Tool{}
	for _, tool := range list {
		byName[tool.Name] = tool
	}
	return byName
}

// call checks and runs one call whose arguments are given as JSON.
func call(t *testing.T, tool Tool, args string) (Output, error) {
	t.Helper()
	return checked(t, tool, args).Run(t.Context())
}

// run is a call that gives an output.
func run(t *testing.T, tool Tool, args string) Output {
	t.Helper()
	out, err := call(t, tool, args)
	require.NoError(t, err)
	return out
}

// fails is a call that fails with an error of the tool.
func fails(t *testing.T, tool Tool, args, code string) *Error {
	t.Helper()
	_, err := call(t, tool, args)
	return failure(t, err, code)
}

func prunedTo(t *testing.T, out Output, text string) Output {
	t.Helper()
	pruned, err := out.Prune(text)
	require.NoError(t, err)
	return pruned
}

func checked(t *testing.T, tool Tool, args string) Call {
	t.Helper()
	c, issues := tool.Check(decode(t, args))
	require.Empty(t, issues)
	return c
}

func decode(t *testing.T, args string) map[string]any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(args))
	dec.UseNumber()
	var m map[string]any
	require.NoError(t, dec.Decode(&m))
	return m
}

// structured is an output's structuredContent as a client decodes it.
func structured(t *testing.T, out Output) map[string]any {
	t.Helper()
	b, err := json.Marshal(out.Structured(map[string]any{}))
	require.NoError(t, err)
	var m map[string]any
	require.NoError(t, json.Unmarshal(b, &m))
	return m
}

// failure is the tool error that err must be.
func failure(t *testing.T, err error, code string) *Error {
	t.Helper()
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, code, e.Code, e.Message)
	return e
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

func quote(s string) string { return jsonText(s) }

// without is a LookPath that does not find some programs.
func without(names ...string) func(string) (string, error) {
	return func(name string) (string, error) {
		if slices.Contains(names, name) {
			return "", exec.ErrNotFound
		}
		return exec.LookPath(name)
	}
}

func TestNewNarrowsTools(t *testing.T) {
	list, err := New(Settings{Root: t.TempDir()})
	require.NoError(t, err)
	require.Len(t, list, len(Names()))
	for i, name := range Names() {
		assert.Equal(t, name, list[i].Name)
	}

	list, err = New(Settings{Root: t.TempDir(), Narrow: []string{"grep", "read"}})
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.Equal(t, "read", list[0].Name)

	_, err = New(Settings{Root: t.TempDir(), Narrow: []string{"sed"}})
	assert.EqualError(t, err, `unknown tool "sed", allowed: read, bash, grep`)
}

// TestMessagesQuoteLittle: what a client wrote can be of any size, a message about
// it keeps the reason and the beginning.
func TestMessagesQuoteLittle(t *testing.T) {
	long := quote(strings.Repeat("é", 1<<20))
	pattern := quote(strings.Repeat("é", 9_999) + "(")
	glob := quote(strings.Repeat("é", 999) + "[")
	engines(t, func(t *testing.T, s Settings) {
		tools := newTools(t, s)
		for _, c := range []struct{ tool, args, reason string }{
			{"read", `{"file_path":` + long + `}`, "…: "},
			{"bash", `{"command":"true","cwd":` + long + `}`, "…: "},
			{"grep", `{"pattern":"x","cwd":` + long + `}`, "…: "},
			{"grep", `{"pattern":"x","path":` + long + `}`, "…: "},
			{"grep", `{"pattern":` + pattern + `}`, map[bool]string{true: "unclosed group", false: "missing closing )"}[s.LookPath == nil]},
			{"grep", `{"pattern":"x","glob":` + glob + `}`, ""},
		} {
			_, err := call(t, tools[c.tool], c.args)
			var e *Error
			require.ErrorAs(t, err, &e, "%.50s", c.args)
			assert.Less(t, len(e.Message), 1200, "%.50s", c.args)
			assert.True(t, utf8.ValidString(e.Message))
			assert.Contains(t, e.Message, c.reason)
		}
	})
	assert.Equal(t, strings.Repeat("x", 256), files.Quoted(strings.Repeat("x", 256)))
	assert.Equal(t, "x"+strings.Repeat("é", 127)+"…", files.Quoted("x"+strings.Repeat("é", 128)))
}

func jsonText(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}
