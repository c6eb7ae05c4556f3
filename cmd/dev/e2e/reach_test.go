//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/calls"
	"github.com/mcp-pruner/mcp-pruner/cmd/dev/e2e/mockmodel"
	"github.com/mcp-pruner/mcp-pruner/cmd/dev/exact"
)

// reached lists the calls of testdata/calls that every client makes with its own tool and with ours.
var reached = []string{
	"test run, one of 1,200 fails", "git log -p", "CSV, count", "CSV, one record", "JSON, path of keys",
	"Python traceback in a log", "Go, a method", "grep, calls among mentions",
}

const callsFolder = "../../../testdata/calls"

func reachedCalls(t *testing.T) (some []calls.Call) {
	all, err := calls.Read(filepath.Join(callsFolder, "calls.jsonl"))
	require.NoError(t, err)
	for _, about := range reached {
		i := slices.IndexFunc(all, func(c calls.Call) bool { return c.About == about })
		require.GreaterOrEqual(t, i, 0, about)
		some = append(some, all[i])
	}
	return some
}

// ownCall returns the same call for the client's own tool, or for its shell if it has no such tool.
func (w *world) ownCall(c calls.Call) mockmodel.Turn {
	path := func(name string) string {
		given, _ := c.Args[name].(string)
		return filepath.Join(w.dir, given)
	}
	command, _ := c.Args["command"].(string)
	switch w.client.name + " " + c.Tool {
	case "claude read", "gemini read":
		tool := map[string]string{"claude": "Read", "gemini": "read_file"}[w.client.name]
		return native("", tool, map[string]any{"file_path": path("file_path")})
	case "opencode read":
		return native("", "read", map[string]any{"filePath": path("file_path")})
	case "opencode grep":
		return native("", "grep", map[string]any{"pattern": c.Args["pattern"], "path": path("path")})
	case "claude grep":
		return native("", "Grep", map[string]any{"pattern": c.Args["pattern"], "path": path("path"), "output_mode": "content"})
	case "gemini grep":
		return native("", "grep_search", map[string]any{"pattern": c.Args["pattern"], "dir_path": path("path")})
	case "codex bash": // Codex' login shell has another PATH
		command = "PATH=" + filepath.Join(w.dir, "bin") + ":$PATH " + command
	case "codex read":
		command = "cat " + path("file_path")
	case "codex grep":
		command = fmt.Sprintf("rg -n %s %s", c.Args["pattern"], path("path"))
	}
	args := map[string]any{w.client.argument: command}
	if w.client.name == "opencode" {
		args["description"] = c.Question
	}
	return native("", w.client.shell, args)
}

// withServer runs the client with our tools.
func (w *world) withServer() {
	if w.client.name == "claude" || w.client.name == "codex" {
		o := w.run("--pruner", "embedded", "--allow-bash")
		require.Zero(w.t, o.code, o.stderr)
		return
	}
	_, stderr, err := w.verb("init", w.client.name, "--mcp")
	require.NoError(w.t, err, stderr)
	out, err := w.own("how?").CombinedOutput()
	require.NoError(w.t, err, string(out))
}

// realistic returns a world with the inputs of the calls, and with their commands on PATH.
func realistic(t *testing.T, c client) *world {
	w := newWorld(t, c, done)
	require.NoError(t, calls.Write(w.dir))
	for i, e := range w.env {
		if path, ok := strings.CutPrefix(e, "PATH="); ok {
			w.env[i] = "PATH=" + filepath.Join(w.dir, "bin") + ":" + path
		}
	}
	return w
}

// fresh returns each tool result of a run from the first request that has it, because Gemini CLI shortens old results
// in later requests.
func (w *world) fresh() (all []seen) {
	for _, r := range w.model.Requests() {
		if results := resultsOf(w.t, r); len(results) > len(all) {
			all = append(all, results[len(all):]...)
		}
	}
	return all
}

// TestWhatReachesTheModel plays realistic calls with every client: of its own tool, of ours without a question, and of
// ours with a question. It proves that our results for the questions have the necessary text, and together less than
// half the tokens of the results of the client's own tools. -update writes the table of docs/evidence/CALLS.md.
func TestWhatReachesTheModel(t *testing.T) {
	cases := reachedCalls(t)
	rows := make(map[string][]string)
	every(t, func(t *testing.T, c client) {
		w := realistic(t, c)
		var turns []mockmodel.Turn
		for _, one := range cases {
			turns = append(turns, w.ownCall(one))
		}
		w.model.Play(append(turns, done)...)
		cmd := w.own("how?")
		if c.name == "claude" {
			cmd.Args = slices.Insert(cmd.Args, 1, "--tools", "Bash,Read,Grep", "--allowedTools=Read,Grep")
		}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		own := w.fresh()
		require.Len(t, own, len(cases), string(out))

		w = realistic(t, c)
		turns = nil
		for _, one := range cases {
			turns = append(turns, call(one.Tool, one.Args), call(one.Tool, one.Asked()))
		}
		w.model.Play(append(turns, done)...)
		w.withServer()
		ours := w.fresh()
		require.Len(t, ours, 2*len(cases))
		var without, with, native int
		for i, one := range cases {
			a, b, n := ours[2*i].text, ours[2*i+1].text, own[i].text
			missing := one.Missing(b)
			assert.Empty(t, missing, one.About)
			row := fmt.Sprintf("| %s | %s | %s | %s | %s |\n", c.name, one.About, told(one, n), told(one, a), told(one, b))
			t.Log(row)
			rows[c.name] = append(rows[c.name], row)
			without, with, native = without+exact.Count(a), with+exact.Count(b), native+exact.Count(n)
		}
		assert.Less(t, with, native/2, "tokens of all calls together")
		assert.LessOrEqual(t, without, native*3/2, "never much dearer than the client's own tools")
	})
	if *update && !t.Failed() {
		writeReach(t, rows)
	}
}

// told returns the number of tokens of a result, followed by "without it" if the result lacks the necessary text.
func told(c calls.Call, text string) string {
	if c.Missing(text) != nil {
		return fmt.Sprintf("%d, without it", exact.Count(text))
	}
	return fmt.Sprint(exact.Count(text))
}

func writeReach(t *testing.T, rows map[string][]string) {
	text := `## What reaches the model, by client

The real clients against a mock model: o200k tokens of the result as it stands in the request to the model, for the client's own tool (Codex: its shell), for ours without
a question, and for ours with it. "without it" says that what the answer needs is not in the result. The mock API counts no tokens, so that Claude's Read shows more than its 25,000; the shells and Claude's
Bash show a preview of long output, and its file's name. Written by ` + "`go -C cmd/dev test -tags e2e ./e2e -run TestWhatReachesTheModel -update`" + `.

| client | call | its own tool | ours, no question | ours, with the question |
|---|---|---|---|---|
`
	for _, c := range append(both(), others()...) {
		text += strings.Join(rows[c.name], "")
	}
	require.NoError(t, os.WriteFile(filepath.Join(callsFolder, "clients.md"), []byte(text), 0o644))
}
