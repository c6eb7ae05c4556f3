package initcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/states/replay"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// record writes a transcript of Claude Code: a log of 700 lines in which nothing is needed later, and sixty calls after it.
func record(t *testing.T, home string, n int) {
	t.Helper()
	begun := time.Date(2026, 11, 1+n, 9, 0, 0, 0, time.UTC)
	var out bytes.Buffer
	id, prompt := 0, 30000
	line := func(v map[string]any) {
		v["sessionId"], v["cwd"], v["version"] = fmt.Sprintf("s%02d", n), "/home/user/app", "2.1.300"
		v["timestamp"] = begun.Add(time.Duration(id) * time.Second).Format(time.RFC3339)
		text, err := json.Marshal(v)
		require.NoError(t, err)
		out.Write(append(text, '\n'))
		id++
	}
	call := func(name, command, result string) {
		tool := fmt.Sprintf("toolu_%d_%d", n, id)
		line(map[string]any{"type": "assistant", "message": map[string]any{"id": "msg" + tool, "role": "assistant", "model": "claude-opus-4-6",
			"content": []any{map[string]any{"type": "tool_use", "id": tool, "name": name, "input": map[string]any{"command": command}}},
			"usage":   map[string]any{"input_tokens": 10, "cache_read_input_tokens": prompt - 2000, "cache_creation_input_tokens": 2000, "output_tokens": 100}}})
		line(map[string]any{"type": "user", "message": map[string]any{"role": "user",
			"content": []any{map[string]any{"type": "tool_result", "tool_use_id": tool, "content": result}}}})
		prompt += len(result)/3 + 110
	}
	line(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": "find out why the service fails"}})
	var log strings.Builder
	for i := range 1400 {
		fmt.Fprintf(&log, "2026-11-01T09:%02d:%02d INFO request %d of client %d served from cache in %d us\n", i/60%60, i%60, i, i*7%91, i*13%997)
	}
	call("Bash", "cat service.log", log.String()+"2026-11-01T09:59:59 ERROR the disk is full\n")
	for i := range 60 {
		call("Bash", fmt.Sprintf("ls part%d", i), strings.Repeat("a.go b.go c.go\n", 3))
	}
	write(t, filepath.Join(home, ".claude", "projects", "-home-user-app", fmt.Sprintf("s%02d.jsonl", n)), out.String())
}

// TestInitByWhatPays: with enough sessions of the user --yes sets up what would have paid in them, and with too few what works
// with the model; the prefix stays.
func TestInitByWhatPays(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, ".claude", "settings.json"), "{}\n")
	for n := range replay.EnoughSessions - 1 {
		record(t, home, n)
	}
	run := func() string {
		p := command.Process{Args: []string{"--yes"}, Env: []string{"HOME=" + home}, Stdout: new(bytes.Buffer), Stderr: new(bytes.Buffer)}
		code := command.Verb(context.Background(), Command(p, func(context.Context, string) int { t.Error("a part of the prefix is switched off"); return command.OK }), p)
		require.Zero(t, code, "%s", p.Stderr)
		return p.Stdout.(*bytes.Buffer).String()
	}
	out := run()
	assert.Contains(t, out, "  1  hooks; too few sessions to say what pays (later: mcp-pruner try)\n")
	assert.NotContains(t, out, "Percent", "there are none")
	assert.Contains(t, out, "On now: Claude Code (hooks).")

	record(t, home, replay.EnoughSessions)
	code, _, stderr := verb(t, home, "claude", "--uninstall")
	require.Zero(t, code, stderr)
	out = run()
	assert.Regexp(t, `(?m)^  1  hooks +\+\d+\.\d % \(\+\d+\.\d\), 0 lose$`, out, "the log is not needed later")
	assert.NotContains(t, out, "prefix ")
	assert.Contains(t, out, "On now: Claude Code (hooks).")
}

// TestJobs: the choices for one client are one job.
func TestJobs(t *testing.T) {
	claude, codex := found{Client: agent.Named("claude")}, found{Client: agent.Named("codex")}
	jobs := options{}.jobs([]choice{{client: claude, part: replay.GC}, {client: codex}, {client: claude, part: replay.Context}, {client: claude, part: replay.Hook}})
	require.Len(t, jobs, 2)
	assert.True(t, jobs[0].proxy && jobs[0].hooks && jobs[0].prefix && jobs[0].sets)
	assert.True(t, jobs[1].sets && !jobs[1].chooses() && !jobs[1].prefix)
	jobs = options{}.jobs([]choice{{client: claude, part: replay.Context}})
	assert.True(t, jobs[0].prefix && !jobs[0].sets, "the prefix alone writes nothing of init's")
}

// TestWhatIsOfferedWithoutFigures: a client without enough sessions is offered what init then sets up there.
func TestWhatIsOfferedWithoutFigures(t *testing.T) {
	claude, codex := found{Client: agent.Named("claude")}, found{Client: agent.Named("codex")}
	assert.Regexp(t, "^hooks; too few", unmeasured(claude, false))
	assert.Regexp(t, "^the proxy, and hooks if its model lets them work; too few", unmeasured(codex, false))
	assert.Equal(t, "what the flags say", unmeasured(claude, true))
}
