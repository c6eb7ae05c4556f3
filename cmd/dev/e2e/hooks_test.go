//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/e2e/mockmodel"
)

// native returns a turn with a text and a call of one of the client's own tools.
func native(words, tool string, args map[string]any) mockmodel.Turn {
	return mockmodel.Turn{Text: words, Calls: []mockmodel.Call{{Tool: tool, Args: args}}}
}

// ledgerGo returns a source file in which one function counts retries.
func ledgerGo() string {
	var b strings.Builder
	b.WriteString("package store\n\n")
	for i := range 120 {
		fmt.Fprintf(&b, "// handler%d answers request kind %d.\nfunc handler%d(w writer, r *request) error {\n\tif r == nil {\n\t\treturn errNoRequest\n\t}\n\treturn w.write(%d)\n}\n\n", i, i, i, i)
		if i == 60 {
			b.WriteString("// openLedger opens the ledger and counts retries.\nfunc openLedger(path string) (*ledger, error) {\n\tretries := 0\n\tfor retries < 3 {\n\t\tretries++\n\t}\n\treturn &ledger{retries}, nil\n}\n\n")
		}
	}
	return b.String()
}

// testLog is a shell command that prints a long test log with one failure.
const testLog = `for i in $(seq 1 80); do echo "=== RUN   TestCase$i"; echo "--- PASS: TestCase$i (0.00s)"; done; ` +
	`echo "=== RUN   TestLedger"; echo "    ledger_test.go:42: openLedger: want 3 retries, got 4"; echo "--- FAIL: TestLedger (0.01s)"; ` +
	`for i in $(seq 1 80); do echo "=== RUN   TestMore$i"; echo "--- PASS: TestMore$i (0.00s)"; done; echo FAIL`

// hooked returns a world with a source file, whose client was set up only by init.
func hooked(t *testing.T, c client, turns ...mockmodel.Turn) *world {
	t.Helper()
	w := newWorld(t, c, turns...)
	w.env = append(w.env, "XDG_STATE_HOME="+filepath.Join(w.home, "state"))
	w.write(filepath.Join(w.dir, "ledger.go"), ledgerGo(), 0o644)
	w.ours("init", c.name)
	return w
}

// ours runs a verb of the program in the world's directory and returns its output. The verb must succeed.
func (w *world) ours(args ...string) string {
	w.t.Helper()
	cmd := exec.Command(pruner, args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.CombinedOutput()
	require.NoError(w.t, err, string(out))
	return string(out)
}

// play runs the client itself for at most two minutes and returns its output.
func (w *world) play(args ...string) string {
	w.t.Helper()
	cmd := exec.Command(installed(w.client.program), args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(w.t, cmd.Start())
	timer := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	_ = cmd.Wait()
	return out.String()
}

func (w *world) claude(extra ...string) string {
	return w.play(append([]string{"-p", "how often is it tried?", "--output-format", "stream-json", "--verbose", "--setting-sources", "user",
		"--strict-mcp-config", "--allowedTools", "Read", "Edit", "Grep", "Bash"}, extra...)...)
}

func (w *world) codex() string {
	return w.play("exec", "--json", "--skip-git-repo-check", "--sandbox", "danger-full-access", "--dangerously-bypass-hook-trust", "how often is it tried?")
}

var prunedID = regexp.MustCompile(`recover (prn_[0-9a-f]{8})`)

func only(name string) client {
	all := both()
	return all[slices.IndexFunc(all, func(c client) bool { return c.name == name })]
}

// TestClaudeHook proves that the model gets pruned results of Claude Code's own Read and Bash with the right line
// numbers, can edit a line that was cut, and can recover the whole output with a command.
func TestClaudeHook(t *testing.T) {
	read := map[string]any{"file_path": "ledger.go"}
	w := hooked(t, only("claude"))
	read["file_path"] = filepath.Join(w.dir, "ledger.go")
	w.model.Play(
		native("", "Bash", map[string]any{"command": testLog, "description": "which test failed and why"}),
		native("I look where openLedger counts retries.", "Read", read),
		native("", "Edit", map[string]any{"file_path": read["file_path"], "old_string": "\treturn w.write(7)\n", "new_string": "\treturn w.write(77)\n"}),
		done)
	out := w.claude()
	results := w.results()
	require.Len(t, results, 3, out)

	source := strings.Split(ledgerGo(), "\n")
	numbered := regexp.MustCompile(`(?m)^ *(\d+)[\t→](.*)$`)
	shown := string(w.lastRequest())
	text := results[1].text
	assert.Less(t, len(text), len(ledgerGo())/3, "the read was cut")
	for _, m := range numbered.FindAllStringSubmatch(text, -1) {
		var n int
		_, err := fmt.Sscan(m[1], &n)
		require.NoError(t, err)
		require.Equal(t, source[n-1], m[2], "line %d", n)
	}
	assert.Contains(t, shown, "func openLedger")
	assert.Contains(t, results[0].text, "want 3 retries, got 4")
	assert.NotContains(t, results[0].text, "TestCase50 ")
	assert.False(t, results[2].error, results[2].text)
	after, err := os.ReadFile(filepath.Join(w.dir, "ledger.go"))
	require.NoError(t, err)
	assert.Contains(t, string(after), "w.write(77)", "a line that was cut can be edited")

	ids := prunedID.FindAllStringSubmatch(shown, -1)
	require.Len(t, ids, 2, shown)
	assert.Equal(t, ledgerGo(), strings.TrimSuffix(w.ours("recover", ids[1][1]), "\n")+"\n")
	assert.Contains(t, w.ours("trace", "verify", filepath.Join(w.home, "state", "mcp-pruner", "hook-trace.jsonl")), "ok")
}

// manyLedgers returns a source file in which 60 functions count retries.
func manyLedgers() string {
	var b strings.Builder
	b.WriteString("package store\n\n")
	for i := range 240 {
		fmt.Fprintf(&b, "// handler%d answers request kind %d.\nfunc handler%d(w writer, r *request) error {\n\treturn w.write(%d)\n}\n\n", i, i, i, i)
		if i%4 == 3 {
			fmt.Fprintf(&b, "// openLedger%d counts retries.\nfunc openLedger%d(path string) (*ledger, error) {\n\tretries := 0\n\tfor retries < %d {\n"+
				"\t\tretries++ // one more retry of ledger %d\n\t\tif err := tryToOpenTheLedger(path, retries); err == nil {\n\t\t\tbreak\n\t\t}\n\t}\n"+
				"\treturn &ledger{retries}, nil\n}\n\n", i, i, i, i)
		}
	}
	return b.String()
}

// TestClaudeTellsItsUser: when the model has answered, the client shows what was cut, and not again if nothing was cut since. The
// net is missing if the client writes its transcript later than the hook waits.
func TestClaudeTellsItsUser(t *testing.T) {
	log := native("I run the tests to see which one fails and why.", "Bash", map[string]any{"command": testLog, "description": "which test failed and why"})
	w := hooked(t, only("claude"), log, done)
	assert.Regexp(t, `"content":"Stop says: mcp-pruner: 1 result cut, [\d.]+k tokens less(, net \+[\d.]+k fresh input tokens \(\+[\d.]+ %(, \+\$[\d.]+ at list price)?\))?"`, w.claude())
	w.env = append(w.env, "MCP_PRUNER_TELL=off")
	assert.NotContains(t, w.claude(), "Stop says")
}

// TestOpencodeTellsItsUser: the client shows a toast, which it announces to all who follow its events. "opencode run" ends before it
// could show one, so the client runs as the server behind its screen.
func TestOpencodeTellsItsUser(t *testing.T) {
	w := hooked(t, other("opencode"),
		native("I run the tests to see which one fails and why.", "bash", map[string]any{"command": testLog, "description": "which test failed and why"}), done)
	cmd := exec.Command(installed(w.client.program), "serve", "--port", strconv.Itoa(freePort(t)))
	cmd.Dir, cmd.Env = w.dir, w.env
	said, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	address := ""
	for lines := bufio.NewScanner(said); address == "" && lines.Scan(); {
		_, address, _ = strings.Cut(lines.Text(), "listening on ")
	}
	go io.Copy(io.Discard, said) //nolint:errcheck // until it ends
	require.NotEmpty(t, address)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	ask := func(method, path, body string) io.ReadCloser {
		r, err := http.NewRequestWithContext(ctx, method, address+path, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		t.Cleanup(func() { _ = answer.Body.Close() })
		return answer.Body
	}
	var session struct{ ID string }
	require.NoError(t, json.NewDecoder(ask(http.MethodPost, "/session", "{}")).Decode(&session))
	events := bufio.NewScanner(ask(http.MethodGet, "/event", ""))
	events.Buffer(nil, 1<<22)
	go func() {
		_, _ = io.Copy(io.Discard, ask(http.MethodPost, "/session/"+session.ID+"/message", `{"parts": [{"type": "text", "text": "how often is it tried?"}]}`))
	}()
	for events.Scan() {
		if strings.Contains(events.Text(), `"tui.toast.show"`) {
			assert.Regexp(t, `"message":"mcp-pruner: 1 result cut, [\d.]+k tokens less"`, events.Text())
			return
		}
	}
	t.Fatalf("there was no toast: %v", events.Err())
}

// TestClaudeShowsTheNoteWhole proves that the model is sent the note with the further windows of a long read itself, not
// Claude Code's preview of a note that is too long, that every line has its own number, and that the windows for which
// the note has no room are named.
func TestClaudeShowsTheNoteWhole(t *testing.T) {
	w := hooked(t, only("claude"))
	file := filepath.Join(w.dir, "ledgers.go")
	w.write(file, manyLedgers(), 0o644)
	w.model.Play(native("I look where openLedger counts retries, in each of the ledgers.", "Read", map[string]any{"file_path": file}), done)
	out := w.claude()
	require.Len(t, w.results(), 1, out)
	var shown any
	require.NoError(t, json.Unmarshal(w.lastRequest(), &shown))
	texts := stringsIn(shown)
	at := slices.IndexFunc(texts, func(s string) bool { return strings.Contains(s, "PostToolUse:Read hook additional context: [") })
	require.GreaterOrEqual(t, at, 0, out)
	assert.NotContains(t, texts[at], "Output too large")
	assert.Regexp(t, `too long for this note: lines \d+-\d+`, texts[at])
	source := strings.Split(manyLedgers(), "\n")
	numbered := regexp.MustCompile(`(?m)^ *(\d+)[\t→](.*)$`).FindAllStringSubmatch(w.results()[0].text+"\n"+texts[at], -1)
	assert.Greater(t, len(numbered), 150, "the note is used")
	for _, m := range numbered {
		n, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		require.Equal(t, source[n-1], m[2], "line %d", n)
	}
}

// stringsIn returns all strings in a decoded JSON value.
func stringsIn(v any) (list []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, item := range v {
			list = append(list, stringsIn(item)...)
		}
	case map[string]any:
		for _, item := range v {
			list = append(list, stringsIn(item)...)
		}
	}
	return list
}

// lastRequest returns the body of the latest request for a turn.
func (w *world) lastRequest() []byte {
	requests := w.model.Requests()
	require.NotEmpty(w.t, requests)
	return requests[len(requests)-1].Body
}

// TestClaudeHookLeavesRulesAlone proves that a deny rule still denies, that the output of a failing command arrives
// unchanged, and that a file about to be edited keeps the place that is to be changed.
func TestClaudeHookLeavesRulesAlone(t *testing.T) {
	w := hooked(t, only("claude"))
	file := filepath.Join(w.dir, "ledger.go")
	w.model.Play(
		native("", "Bash", map[string]any{"command": "cat ledger.go", "description": "forbidden"}),
		native("", "Bash", map[string]any{"command": testLog + "; exit 3", "description": "which test failed"}),
		native("Now I update ledger.go so that it tries five times.", "Read", map[string]any{"file_path": file}),
		done)
	out := w.claude("--disallowedTools", "Bash(cat:*)")
	results := w.results()
	require.Len(t, results, 3, out)
	assert.True(t, results[0].error)
	assert.NotContains(t, results[0].text, "handler1")
	assert.Contains(t, results[1].text, "TestCase50 ", "PostToolUseFailure cannot replace")
	assert.Contains(t, results[2].text, "494\t\tfor retries < 3 {\n", "about to be edited")
}

// TestCodexHook proves that the model gets a pruned result of Codex' own shell and can recover the cut lines.
func TestCodexHook(t *testing.T) {
	w := hooked(t, only("codex"))
	w.model.Play(
		native("I run the tests to see which one fails and why.", "exec_command", map[string]any{"cmd": testLog, "max_output_tokens": 40000}),
		native("Again: which test fails, and why?", "exec_command", map[string]any{"cmd": testLog + "; exit 3", "max_output_tokens": 40000}),
		done)
	out := w.codex()
	results := w.results()
	require.Len(t, results, 2, out)
	for i, status := range []string{"0", "3"} {
		assert.Contains(t, results[i].text, "want 3 retries, got 4", out)
		assert.NotContains(t, results[i].text, "TestCase50 ")
		assert.Contains(t, results[i].text, "\nProcess exited with code "+status+"\n")
		assert.Contains(t, w.ours("recover", prunedID.FindStringSubmatch(results[i].text)[1]), "Process exited with code "+status+"\n")
	}
	id := prunedID.FindStringSubmatch(results[0].text)
	require.NotNil(t, id, results[0].text)
	assert.Contains(t, w.ours("recover", id[1], "--pattern", "TestCase50 "), "TestCase50 ")
}

// TestInitIsUndone proves that init --uninstall restores the settings file exactly, also after a real run.
func TestInitIsUndone(t *testing.T) {
	w := newWorld(t, only("claude"), done)
	settings := filepath.Join(w.home, "settings.json")
	w.write(settings, "{\n\n\t\"model\" : \"sonnet\" }\n", 0o600)
	before, err := os.ReadFile(settings)
	require.NoError(t, err)
	w.ours("init", "claude")
	w.claude()
	w.ours("init", "claude", "--uninstall")
	after, err := os.ReadFile(settings)
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
}

func other(name string) client {
	all := others()
	return all[slices.IndexFunc(all, func(c client) bool { return c.name == name })]
}

// TestOpencodeHook proves that the plugin that init writes gives the model pruned results of opencode's own tools with
// the right line numbers, also for a failing command.
func TestOpencodeHook(t *testing.T) {
	w := hooked(t, other("opencode"))
	file := filepath.Join(w.dir, "ledger.go")
	w.model.Play(
		native("I look where openLedger counts retries.", "read", map[string]any{"filePath": file}),
		native("I run the tests to see which one fails and why.", "bash", map[string]any{"command": testLog + "; exit 3", "description": "which test failed and why"}),
		native("", "edit", map[string]any{"filePath": file, "oldString": "\treturn w.write(7)\n", "newString": "\treturn w.write(77)\n"}),
		done)
	out, err := w.own("how often is it tried?").CombinedOutput()
	require.NoError(t, err, string(out))
	results := w.results()
	require.Len(t, results, 3, string(out))
	source := strings.Split(ledgerGo(), "\n")
	text := results[0].text
	assert.Less(t, len(text), len(ledgerGo())/2, "the read was cut: %.600s", text)
	assert.Contains(t, text, "func openLedger")
	for _, m := range regexp.MustCompile(`(?m)^ *0*(\d+)(?:\||:) (.*)$`).FindAllStringSubmatch(text, -1) {
		var n int
		_, err := fmt.Sscan(m[1], &n)
		require.NoError(t, err)
		require.Equal(t, source[n-1], m[2], "line %d", n)
	}
	assert.Contains(t, results[1].text, "want 3 retries, got 4")
	assert.NotContains(t, results[1].text, "TestCase50 ", "a failing command is pruned too")
	assert.Contains(t, results[1].text, "\nProcess exited with code 3\n")
	assert.Contains(t, text, "<content>")
	assert.Contains(t, text, "(End of file")
	assert.True(t, strings.HasSuffix(text, "</content>"), text)
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(after), "w.write(77)", "a line that was cut can be edited")
	id := prunedID.FindStringSubmatch(results[1].text)
	require.NotNil(t, id, results[1].text)
	assert.Contains(t, w.ours("recover", id[1], "--pattern", "TestCase50 "), "TestCase50 ")
}

// TestOpencodeSearch proves that every match of opencode's own search that the model gets stands below the name of its file. Before a
// command has run the search stays whole.
func TestOpencodeSearch(t *testing.T) {
	w := hooked(t, other("opencode"))
	names := []string{"ledger.go", "retry.go", "store.go"}
	for at, name := range names {
		var source strings.Builder
		fmt.Fprintf(&source, "package app\n")
		for i := range 32 {
			fmt.Fprintf(&source, "\nfunc step%d%d(ctx context.Context) error {\n\treturn retryEntry(ctx, %d, deadline, backoff.next(time.Now()), %q)\n}\n", at, i, i, name)
		}
		w.write(filepath.Join(w.dir, name), source.String(), 0o644)
	}
	search := native("I look where store.go retries its entries.", "grep", map[string]any{"pattern": "retryEntry", "path": w.dir})
	w.model.Play(search, native("", "bash", map[string]any{"command": "true", "description": "nothing"}), search, done)
	out, err := w.own("which entries does the store retry?").CombinedOutput()
	require.NoError(t, err, string(out))
	results := w.results()
	require.Len(t, results, 3, string(out))
	require.Equal(t, 96, strings.Count(results[0].text, "return retryEntry("), "the search stays whole")
	text := results[2].text
	require.Regexp(t, prunedID, text, "the search was cut")
	heading, matches := "", 0
	for line := range strings.Lines(text) {
		switch match := strings.HasPrefix(line, "  Line "); {
		case !match && strings.TrimSpace(line) != "":
			heading = strings.TrimSpace(line)
			continue
		case !match:
			continue
		}
		matches++
		name := filepath.Base(strings.TrimSuffix(heading, ":"))
		require.Contains(t, names, name, "%q has no file above it in\n%s", line, text)
		require.Contains(t, line, strconv.Quote(name), "a match stands below another file")
	}
	require.Positive(t, matches, text)
}

// TestGeminiHook proves that init installs Gemini CLI's hook only with --hooks, because with the hook the model gets
// results as errors, and that the hook prunes results.
func TestGeminiHook(t *testing.T) {
	script := []mockmodel.Turn{
		native("I run the tests to see which one fails and why.", "run_shell_command", map[string]any{"command": "sh tests.sh", "description": "run the tests"}),
		done,
	}
	w := newWorld(t, other("gemini"), script...)
	w.env = append(w.env, "XDG_STATE_HOME="+filepath.Join(w.home, "state"))
	w.write(filepath.Join(w.dir, "tests.sh"), testLog+"; exit 3", 0o755)
	_, stderr, err := w.verb("init", "gemini")
	require.Error(t, err)
	assert.Contains(t, stderr, "--hooks")
	w.ours("init", "gemini", "--hooks")
	out, err := w.own("how often is it tried?").CombinedOutput()
	require.NoError(t, err, string(out))
	results := w.results()
	require.Len(t, results, 1, string(out))
	assert.Contains(t, results[0].text, "<untrusted_context>\n")
	assert.Contains(t, results[0].text, "Exit Code: 3\n")
	assert.Contains(t, results[0].text, "\n</untrusted_context>")
	assert.True(t, results[0].error, "what Gemini CLI makes of it: %.300s", results[0].text)
	assert.Contains(t, results[0].text, "want 3 retries, got 4")
	assert.NotContains(t, results[0].text, "TestCase50 ")
	assert.NotNil(t, prunedID.FindStringSubmatch(results[0].text))
}
