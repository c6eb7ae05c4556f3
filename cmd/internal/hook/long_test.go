//go:build unix

package hook

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// longLog is the output of tests, of which one fails at line 1501.
func longLog() string {
	var b strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&b, "--- PASS: TestCase%d (0.00s)\n", i+1)
	}
	b.WriteString("    ledger_test.go:42: openLedger: want 3 retries, got 4\n--- FAIL: TestLedger (0.01s)\n")
	for i := range 1500 {
		fmt.Fprintf(&b, "--- PASS: TestMore%d (0.00s)\n", i+1)
	}
	return b.String()
}

// session makes the transcript that of a session, and returns the folder with its long results.
func (w *world) session() string {
	w.transcript = filepath.Join(w.state, "s.jsonl")
	w.say(question)
	folder := filepath.Join(w.state, "s", "tool-results")
	require.NoError(w.t, os.MkdirAll(folder, 0o700))
	return folder
}

func (w *world) spilled(path string) map[string]any {
	return w.message("Bash", map[string]any{"command": "go test ./...", "description": "run the tests"}, map[string]any{
		"stdout": longLog()[:30_000], "stderr": "", "interrupted": false, "isImage": false, "persistedOutputPath": path, "persistedOutputSize": len(longLog())})
}

func TestOutputInAFileIsCut(t *testing.T) {
	w := newWorld(t)
	folder := w.session()
	path := filepath.Join(folder, "a.txt")
	require.NoError(t, os.WriteFile(path, []byte(longLog()), 0o600))
	answer := hookOutput(t, w.hook([]string{"claude"}, w.spilled(path)))
	updated := answer["updatedToolOutput"].(map[string]any)
	require.NotContains(t, updated, "persistedOutputPath")
	require.NotContains(t, updated, "persistedOutputSize")
	text := updated["stdout"].(string)
	require.Contains(t, text, "want 3 retries, got 4")
	require.Contains(t, text, "...1-", "numbers of lines of the whole")
	require.Less(t, len(text), 8_000)
	noted := ReadNotes(filepath.Join(w.state, "mcp-pruner"))
	require.Len(t, noted, 1)
	require.Less(t, noted[0].Tokens, 1_200, "the client would have shown 2 kB")
	whole, err := os.ReadFile(filepath.Join(w.state, "mcp-pruner", "originals", noted[0].ID))
	require.NoError(t, err)
	require.Equal(t, longLog(), string(whole))
}

func TestOtherFilesAreNotRead(t *testing.T) {
	w := newWorld(t)
	folder := w.session()
	secret := filepath.Join(w.state, "secret.txt")
	require.NoError(t, os.WriteFile(secret, []byte(longLog()), 0o600))
	link := filepath.Join(folder, "link.txt")
	require.NoError(t, os.Symlink(secret, link))
	foreign := filepath.Join(w.state, "other", "tool-results")
	require.NoError(t, os.MkdirAll(foreign, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(foreign, "b.txt"), []byte(longLog()), 0o600))
	for _, path := range []string{secret, link, filepath.Join(foreign, "b.txt"), filepath.Join(folder, "..", "..", "secret.txt"), filepath.Join(folder, "gone.txt"), folder, "/dev/zero"} {
		require.Empty(t, w.hook([]string{"claude"}, w.spilled(path)), path)
	}
	inside := filepath.Join(folder, "c.txt")
	require.NoError(t, os.WriteFile(inside, []byte(longLog()), 0o600))
	message := w.spilled(inside)
	message["session_id"] = "another"
	require.Empty(t, w.hook([]string{"claude"}, message), "the transcript is another session's")
	message = w.spilled(inside)
	message["tool_name"] = "mcp__server__run"
	require.Empty(t, w.hook([]string{"claude"}, message), "not a tool of the client")
}

// failure is the input of a hook after a failed command of Claude Code.
func (w *world) failure() map[string]any {
	all := longLog()[:30_000]
	m := w.message("Bash", map[string]any{"command": "go test ./...", "description": "run the tests"}, nil)
	delete(m, "tool_response")
	m["hook_event_name"] = "PostToolUseFailure"
	m["error"] = "Exit code 1\n" + all[:4_990] + "\n\n... [20000 characters truncated] ...\n\n" + all[25_000:]
	return m
}

func (w *world) keep(text string) string {
	tasks := filepath.Join(w.state, "claude-0", "project", "ab12-cd", "tasks")
	require.NoError(w.t, os.MkdirAll(tasks, 0o700))
	path := filepath.Join(tasks, "x.output")
	require.NoError(w.t, os.WriteFile(path, []byte(text), 0o600))
	out, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(w.t, err)
	defer out.Close()
	lookup := func(name string) (string, bool) {
		return map[string]string{"XDG_STATE_HOME": w.state}[name], name == "XDG_STATE_HOME"
	}
	Keep(&agent.Claude, lookup, out)
	after, err := os.ReadFile(path)
	require.NoError(w.t, err)
	require.Equal(w.t, text, string(after), "it prints nothing")
	return filepath.Join(w.state, "mcp-pruner", keptName, "ab12-cd_x.output")
}

func TestLinesThatTheClientLeftOutAreAdded(t *testing.T) {
	w := newWorld(t)
	w.session()
	kept := w.keep(longLog())
	require.FileExists(t, kept)
	message := w.failure()
	require.Empty(t, w.hook([]string{"claude"}, message), "nothing was kept for this session")
	message["session_id"] = "ab12-cd"
	var answer struct {
		Output struct{ HookEventName, AdditionalContext string } `json:"hookSpecificOutput"`
	}
	require.NoError(t, json.Unmarshal([]byte(w.hook([]string{"claude"}, message)), &answer))
	require.Equal(t, "PostToolUseFailure", answer.Output.HookEventName)
	text := answer.Output.AdditionalContext
	require.Contains(t, text, "were left out above. Of these:\n")
	lines := strings.Split(longLog(), "\n")
	numbered := regexp.MustCompile(`(?m)^(\d+)\t(.*)$`).FindAllStringSubmatch(text, -1)
	require.NotEmpty(t, numbered)
	for _, m := range numbered {
		n, err := strconv.Atoi(m[1])
		require.NoError(t, err)
		require.Equal(t, lines[n-1], m[2])
	}
	require.Contains(t, text, "1501\t    ledger_test.go:42: openLedger: want 3 retries, got 4")
	require.NoFileExists(t, kept, "it is taken once")
	noted := ReadNotes(filepath.Join(w.state, "mcp-pruner"))
	require.Len(t, noted, 1)
	require.Zero(t, noted[0].Tokens)
	require.Positive(t, noted[0].Sent)

	short := w.failure()
	short["error"] = "Exit code 1\nno such file"
	require.Empty(t, w.hook([]string{"claude"}, short))
	require.NoFileExists(t, w.keep("short"), "the client shows all of it")
}

func TestTheShellKeepsFailedOutputs(t *testing.T) {
	w := newWorld(t)
	file := filepath.Join(w.state, "prelude.sh")
	w.env = []string{"CLAUDE_ENV_FILE=" + file}
	start := map[string]any{"session_id": "s", "hook_event_name": "SessionStart", "source": "startup", "transcript_path": w.transcript}
	for range 2 {
		require.Empty(t, w.hook([]string{"claude"}, start))
	}
	text, err := os.ReadFile(file)
	if !canKeep || keepLine(&agent.Claude) == "" {
		t.Skip("the path of this program would need quotes")
	}
	require.NoError(t, err)
	require.Regexp(t, `^trap '\[ \$\? -eq 0 \] \|\| \S+ hook claude --keep 2>/dev/null \|\| :' EXIT\n$`, string(text), "once")
}

func TestHooksAreOff(t *testing.T) {
	project := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(project, ".git"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(project, ProjectFile), []byte("# here\nMCP_PRUNER_HOOK = off\n"), 0o600))
	for name, c := range map[string]struct {
		args  []string
		env   string
		alter func(m map[string]any)
		whole bool
	}{
		"nothing says so":        {},
		"the environment":        {env: "MCP_PRUNER_HOOK=off", whole: true},
		"the environment, on":    {env: "MCP_PRUNER_HOOK=on"},
		"the project":            {alter: func(m map[string]any) { m["cwd"] = project }, whole: true},
		"the description":        {alter: func(m map[string]any) { inputOf(m)["description"] = "run the tests (unpruned)" }, whole: true},
		"a comment":              {alter: func(m map[string]any) { inputOf(m)["command"] = "go test ./... # unpruned" }, whole: true},
		"a word of the command":  {alter: func(m map[string]any) { inputOf(m)["command"] = "cat unpruned.log" }},
		"another tool only":      {args: []string{"--only", "Read,mcp__x"}, whole: true},
		"this tool only":         {args: []string{"--only", "bash"}},
		"all except this one":    {args: []string{"--except", "Bash"}, whole: true},
		"all except another one": {args: []string{"--except", "mcp__github"}},
	} {
		w := newWorld(t)
		folder := w.session()
		path := filepath.Join(folder, "a.txt")
		require.NoError(t, os.WriteFile(path, []byte(longLog()), 0o600))
		if c.env != "" {
			w.env = []string{c.env}
		}
		message := w.spilled(path)
		if c.alter != nil {
			c.alter(message)
		}
		require.Equal(t, c.whole, w.hook(append([]string{"claude"}, c.args...), message) == "", name)
	}
}

func inputOf(m map[string]any) map[string]any { return m["tool_input"].(map[string]any) }

func TestPause(t *testing.T) {
	w := newWorld(t)
	folder := w.session()
	path := filepath.Join(folder, "a.txt")
	require.NoError(t, os.WriteFile(path, []byte(longLog()), 0o600))
	dir := filepath.Join(w.state, "mcp-pruner")
	require.NoError(t, setPaused(dir, "s", false))
	require.Empty(t, w.hook([]string{"claude"}, w.spilled(path)))
	require.NoError(t, setPaused(dir, "s", true))
	require.NoError(t, setPaused(dir, "s", true), "again")
	require.NotEmpty(t, w.hook([]string{"claude"}, w.spilled(path)))
	for _, bad := range []string{"", "../x", "a/b", strings.Repeat("x", 300)} {
		require.False(t, plainSession(bad), bad)
	}
}

// TestCodexTruncated proves that the hook selects from what Codex's transcript has of an output that Codex has cut.
func TestCodexTruncated(t *testing.T) {
	w := newWorld(t)
	w.transcript = filepath.Join(w.state, "rollout.jsonl")
	all := longLog()[len(longLog())/2-20_000 : len(longLog())/2+20_000]
	var lines []byte
	for _, line := range []any{
		map[string]any{"type": "event_msg", "payload": map[string]any{"type": "item_completed", "item": map[string]any{
			"type": "CommandExecution", "id": "t1", "aggregated_output": all, "exit_code": 1}}},
	} {
		text, err := json.Marshal(line)
		require.NoError(t, err)
		lines = append(append(lines, text...), '\n')
	}
	require.NoError(t, os.WriteFile(w.transcript, lines, 0o600))
	shown := "Warning: truncated output (original token count: 9000)\nTotal output lines: 1300\n\n" + all[:5000] + "…4000 tokens truncated…" + all[35_000:]
	answer := w.hook([]string{"codex"}, w.message("Bash", map[string]any{"command": "go test ./..."}, shown))
	var block struct{ Decision, Reason string }
	require.NoError(t, json.Unmarshal([]byte(answer), &block), answer)
	require.Contains(t, block.Reason, "want 3 retries, got 4")
	require.Contains(t, block.Reason, "Process exited with code 1\n")
	require.Less(t, len(block.Reason), 9_500)
}
