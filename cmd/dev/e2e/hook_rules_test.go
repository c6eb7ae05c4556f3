//go:build e2e

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/e2e/mockmodel"
	"github.com/mcp-pruner/mcp-pruner/cmd/dev/exact"
)

// hookedBy has, for each client, the options of init that install the hooks, and the function that runs the client.
var hookedBy = map[string]struct {
	options []string
	run     func(w *world) string
	deny    func(w *world) // makes the client's rules deny the command cat
}{
	"claude": {run: func(w *world) string { return w.claude("--disallowedTools", "Bash(cat:*)") }, deny: func(*world) {}},
	"codex": {run: (*world).codex, deny: func(w *world) {
		rules := filepath.Join(w.home, "rules")
		require.NoError(w.t, os.MkdirAll(rules, 0o755))
		w.write(filepath.Join(rules, "default.rules"), `prefix_rule(pattern = ["cat"], decision = "forbidden")`+"\n", 0o600)
	}},
	"opencode": {run: (*world).alone, deny: func(w *world) {
		w.edit(filepath.Join(w.home, ".config", "opencode", "opencode.json"),
			`"permission": { "*": "allow" }`, `"permission": { "*": "allow", "bash": { "*": "allow", "cat *": "deny" } }`)
	}},
	"gemini": {options: []string{"--hooks"}, run: (*world).alone, deny: func(w *world) {
		policies := filepath.Join(w.home, ".gemini", "policies")
		require.NoError(w.t, os.MkdirAll(policies, 0o755))
		w.write(filepath.Join(policies, "deny.toml"), "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"cat\"\ndecision = \"deny\"\npriority = 999\n", 0o600)
	}},
}

// alone runs the client without our server and returns its output.
func (w *world) alone() string {
	out, err := w.own("how often is it tried?").CombinedOutput()
	if !errors.Is(err, exec.ErrWaitDelay) { // what the client leaves running keeps its output open
		require.NoError(w.t, err, string(out))
	}
	return string(out)
}

// edit replaces a text in a file. The file must contain the text.
func (w *world) edit(path, old, text string) {
	w.t.Helper()
	before, err := os.ReadFile(path)
	require.NoError(w.t, err)
	require.Contains(w.t, string(before), old)
	w.write(path, strings.Replace(string(before), old, text, 1), 0o600)
}

// shellTurn returns a turn with a text and a command for the client's own shell.
func (c client) shellTurn(words, command string) mockmodel.Turn {
	args := map[string]any{c.argument: command, "description": words}
	if c.name == "codex" {
		args = map[string]any{c.argument: command, "max_output_tokens": 40_000}
	}
	return native(words, c.shell, args)
}

// hookedWorld returns a world with a source file and test scripts, whose client was set up by init.
func hookedWorld(t *testing.T, c client, turns ...mockmodel.Turn) *world {
	w := newWorld(t, c, turns...)
	w.env = append(w.env, "XDG_STATE_HOME="+filepath.Join(w.home, "state"))
	w.write(filepath.Join(w.dir, "ledger.go"), ledgerGo(), 0o644)
	w.write(filepath.Join(w.dir, "tests.sh"), testLog+"\n", 0o755)
	w.write(filepath.Join(w.dir, "many.sh"), strings.Repeat(testLog+"\n", 90), 0o755) // prints 1 MB
	w.ours(append([]string{"init", c.name}, hookedBy[c.name].options...)...)
	return w
}

// TestHooksLeaveRulesAlone proves, for every client with hooks, that a command that the user's rules deny does not run.
// The output of a failing command is pruned if the client lets a hook replace it. An output of 1 MB arrives shortened.
// The model recovers cut lines with the command that it was shown.
func TestHooksLeaveRulesAlone(t *testing.T) {
	every(t, func(t *testing.T, c client) {
		w := hookedWorld(t, c)
		again := c.shellTurn("I want the rest.", "")
		again.Before = func() {
			way := regexp.MustCompile("rest: `(.*) --lines A-B`").FindStringSubmatch(w.results()[1].text)
			if assert.NotNil(t, way) {
				again.Calls[0].Args[c.argument] = way[1] + " --pattern 'TestCase50 '"
			}
		}
		w.model.Play(
			c.shellTurn("I look at the file.", "cat ledger.go"),
			c.shellTurn("I run the tests to see which one fails and why.", "sh tests.sh"),
			c.shellTurn("Again: which test fails, and why?", "sh tests.sh; exit 3"),
			c.shellTurn("And now all of them: which test fails, and why?", "sh many.sh"),
			again,
			done)
		by := hookedBy[c.name]
		by.deny(w)
		out := by.run(w)
		results := w.results()
		require.Len(t, results, 5, out)
		assert.NotContains(t, results[0].text, "handler1")
		assert.Contains(t, results[1].text, "want 3 retries, got 4")
		assert.NotContains(t, results[1].text, "TestCase50 ")
		assert.Contains(t, results[2].text, "want 3 retries, got 4")
		assert.Equal(t, c.name == "claude", strings.Contains(results[2].text, "TestCase50 "), "PostToolUseFailure cannot replace")
		assert.Contains(t, results[3].text, "--- FAIL: TestLedger")
		assert.Contains(t, results[3].text, "want 3 retries, got 4", "the reason beside the verdict")
		assert.Less(t, len(results[3].text), 60_000)
		assert.Contains(t, results[4].text, "--- PASS: TestCase50 ")
	})
}

// TestCutLinesCanBeEdited proves that the client's own tool can edit a line that a hook cut from a result.
func TestCutLinesCanBeEdited(t *testing.T) {
	patch := "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: ledger.go\n@@\n-\treturn w.write(100)\n+\treturn w.write(177)\n*** End Patch\nEOF"
	for _, c := range []struct {
		client
		edit func(w *world) mockmodel.Turn
	}{
		{only("codex"), func(w *world) mockmodel.Turn { return w.client.shellTurn("I change it.", patch) }},
		{other("gemini"), func(w *world) mockmodel.Turn {
			return native("", "replace", map[string]any{"file_path": filepath.Join(w.dir, "ledger.go"), "instruction": "try more often",
				"old_string": "\treturn w.write(100)\n", "new_string": "\treturn w.write(177)\n"})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := hookedWorld(t, c.client)
			w.model.Play(c.shellTurn("I look where openLedger counts retries.", "grep -n return ledger.go"), c.edit(w), done)
			out := hookedBy[c.name].run(w)
			results := w.results()
			require.Len(t, results, 2, out)
			assert.Contains(t, results[0].text, "ledger{retries}")
			assert.NotContains(t, results[0].text, "w.write(100)", "the line was cut")
			after, err := os.ReadFile(filepath.Join(w.dir, "ledger.go"))
			require.NoError(t, err)
			assert.Contains(t, string(after), "w.write(177)", results[1].text)
		})
	}
}

// TestACompactionIsMarked proves that after /compact in Claude Code the model is told which outputs are no longer in
// its context and how to recover them, and that the command returns them.
func TestACompactionIsMarked(t *testing.T) {
	c := only("claude")
	w := hookedWorld(t, c, c.shellTurn("I run the tests to see which one fails and why.", "sh tests.sh"), done)
	w.claude()
	require.Len(t, w.results(), 1)
	w.play("-p", "/compact", "--continue", "--setting-sources", "user", "--strict-mcp-config", "--output-format", "stream-json", "--verbose")
	out := w.play("-p", "and now?", "--continue", "--setting-sources", "user", "--strict-mcp-config", "--output-format", "stream-json", "--verbose")
	asked := string(w.lastRequest())
	require.Contains(t, asked, "Whole outputs from before the compaction", out)
	id := regexp.MustCompile(`recover ID.{0,5}: (\S+) \(Bash`).FindStringSubmatch(asked)
	require.NotNil(t, id, asked)
	assert.Contains(t, w.ours("recover", id[1], "--pattern", "TestCase50 "), "TestCase50 ")
}

// TestPluginOfClaudeCode proves that the plugin's folders are valid, that the plugin can be installed into a fresh home
// from a marketplace without a network, and that it prunes the result of a native tool.
func TestPluginOfClaudeCode(t *testing.T) {
	c := only("claude")
	w := newWorld(t, c, c.shellTurn("I run the tests to see which one fails and why.", "sh tests.sh"), done)
	w.env = append(w.env, "XDG_STATE_HOME="+filepath.Join(w.home, "state"))
	w.onPath()
	w.write(filepath.Join(w.dir, "tests.sh"), testLog+"\n", 0o755)
	repository, err := filepath.Abs("../../..")
	require.NoError(t, err)
	claude := func(args ...string) string {
		cmd := exec.Command(installed(c.program), args...)
		cmd.Dir, cmd.Env = w.dir, w.env
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	for _, folder := range []string{".", "plugin/claude", "plugin/claude-tools"} {
		assert.Contains(t, claude("plugin", "validate", filepath.Join(repository, folder)), "Validation passed")
	}
	claude("plugin", "marketplace", "add", repository)
	claude("plugin", "install", "mcp-pruner@mcp-pruner")
	out := w.claude()
	results := w.results()
	require.Len(t, results, 1, out)
	assert.Contains(t, results[0].text, "want 3 retries, got 4")
	assert.NotContains(t, results[0].text, "TestCase50 ")
	for _, request := range w.model.Requests() {
		assert.NotContains(t, string(request.Body), "cut, or how to get it back", "the command costs tokens before it is called")
	}
}

// TestNativeAgainstHooked proves, tool by tool, that with the hooks the model gets less than three quarters of the
// tokens that the same call costs without them. The tool of another MCP server is our own server under another name,
// with pruning off.
func TestNativeAgainstHooked(t *testing.T) {
	files := fmt.Sprintf(`{"mcpServers":{"files":{"command":%q,"env":{"PRUNER_URL":""}}}}`, pruner)
	words := "I look where openLedger counts retries."
	foreign := mockmodel.Turn{Text: "I run the tests to see which one fails and why.",
		Calls: []mockmodel.Call{{Server: "files", Tool: "bash", Args: map[string]any{"command": "sh tests.sh", "max_output_bytes": 100_000}}}}
	for _, c := range []struct {
		client
		tools []string
		turns func(w *world) []mockmodel.Turn
		run   func(w *world) string
	}{
		{only("claude"), []string{"Read", "Bash", "Grep", "MCP"}, func(w *world) []mockmodel.Turn {
			return []mockmodel.Turn{
				native(words, "Read", map[string]any{"file_path": filepath.Join(w.dir, "ledger.go")}),
				w.client.shellTurn("I run the tests to see which one fails and why.", "sh tests.sh"),
				native(words, "Grep", map[string]any{"pattern": "return", "output_mode": "content", "path": w.dir, "glob": "ledger.go"}),
				foreign, done}
		}, func(w *world) string { return w.claude("mcp__files__bash", "--mcp-config", files) }},
		{only("codex"), []string{"exec_command", "MCP"}, func(w *world) []mockmodel.Turn {
			return []mockmodel.Turn{w.client.shellTurn("I run the tests to see which one fails and why.", "sh tests.sh"), foreign, done}
		}, func(w *world) string {
			w.edit(filepath.Join(w.home, "config.toml"), "[features]", fmt.Sprintf("[mcp_servers.files]\ncommand = %q\nenv = { PRUNER_URL = \"\" }\n[features]", pruner))
			return w.codex()
		}},
		{other("opencode"), []string{"read", "bash", "grep"}, func(w *world) []mockmodel.Turn {
			return []mockmodel.Turn{
				native(words, "read", map[string]any{"filePath": filepath.Join(w.dir, "ledger.go")}),
				w.client.shellTurn("I run the tests to see which one fails and why.", "sh tests.sh"),
				native(words, "grep", map[string]any{"pattern": "retr|func handler[5-9]", "path": w.dir, "include": "ledger.go"}),
				done}
		}, (*world).alone},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sent [2][]seen
			for hooked := range sent {
				w := hookedWorld(t, c.client)
				w.env = append(w.env, "MCP_PRUNER_OTHER_TOOLS=files")
				if hooked == 0 {
					w.ours("init", c.name, "--uninstall")
				}
				w.model.Play(c.turns(w)...)
				out := c.run(w)
				sent[hooked] = w.results()
				require.Len(t, sent[hooked], len(c.tools), out)
			}
			for i, tool := range c.tools {
				before, after := exact.Count(sent[0][i].text), exact.Count(sent[1][i].text)
				t.Logf("%s %s: %d tokens native, %d hooked", c.name, tool, before, after)
				assert.Less(t, after, before*3/4, "%s: %.600s", tool, sent[1][i].text)
			}
		})
	}
}

// TestWaitedCommandsAreCut proves that Codex runs the hook also for a command that did not end in the call that started it.
func TestWaitedCommandsAreCut(t *testing.T) {
	w := hookedWorld(t, only("codex"))
	wait := native("I wait to see which test fails and why.", "write_stdin", map[string]any{"session_id": 0, "chars": "", "yield_time_ms": 10_000, "max_output_tokens": 40_000})
	wait.Before = func() {
		number := regexp.MustCompile(`session ID (\d+)`).FindStringSubmatch(w.results()[0].text)
		if assert.NotNil(t, number) {
			wait.Calls[0].Args["session_id"] = json.Number(number[1])
		}
	}
	w.model.Play(native("I run the tests.", "exec_command", map[string]any{"cmd": "sleep 3; sh tests.sh", "yield_time_ms": 300}), wait, done)
	out := hookedBy["codex"].run(w)
	results := w.results()
	require.Len(t, results, 2, out)
	assert.Contains(t, results[1].text, "of 324 lines; rest: `")
	assert.Contains(t, results[1].text, "want 3 retries, got 4")
	assert.NotContains(t, results[1].text, "TestCase50 ")
}
