package prefix

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// usageTranscript is a session of Claude Code with one call of a tool.
func usageTranscript(id, folder, tool string) string {
	return `{"type":"user","sessionId":"` + id + `","cwd":"` + folder + `","timestamp":"2026-11-20T10:00:00Z","message":{"role":"user","content":"go on"}}
{"type":"assistant","sessionId":"` + id + `","cwd":"` + folder + `","message":{"id":"m1","role":"assistant","model":"claude-opus","content":[{"type":"tool_use","id":"t1","name":"` + tool + `","input":{}}],"usage":{"input_tokens":100,"cache_creation_input_tokens":20000,"cache_read_input_tokens":0,"output_tokens":50}}}
`
}

func writeAt(t *testing.T, path, text string, at time.Time) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	require.NoError(t, os.Chtimes(path, at, at))
}

func TestUseOfTheLastDays(t *testing.T) {
	home := t.TempDir()
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	projects := filepath.Join(home, ".claude", "projects", "p")
	writeAt(t, filepath.Join(projects, "a.jsonl"), usageTranscript("a", "/p", "Bash"), now)
	writeAt(t, filepath.Join(projects, "a", "subagents", "agent-1.jsonl"), usageTranscript("a", "/p", "Workflow"), now)
	writeAt(t, filepath.Join(projects, "b.jsonl"), usageTranscript("b", "/q", "mcp__notes__find"), now)
	writeAt(t, filepath.Join(projects, "old.jsonl"), usageTranscript("old", "/p", "WebFetch"), now.AddDate(0, 0, -UsageDays-1))
	o := UsageOptions{Client: &agent.Claude, Now: now, Lookup: func(name string) (string, bool) { return home, name == "HOME" }}
	u, err := UsageOf(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, 2, u.Sessions(), "the sub-agent's belongs to its session")
	used := func(name, server string) int {
		n, seen := u.PartUse.Of(sessions.Part{Kind: sessions.ToolPart, Name: name, Server: server})
		require.Equal(t, 2, seen)
		return n
	}
	require.Equal(t, 1, used("Workflow", ""))
	require.Equal(t, 1, used("mcp__notes__find", "notes"))
	require.Zero(t, used("WebFetch", ""), "too long ago")
	require.Greater(t, u.Share, 0.5)

	o.Folder = "/q"
	u, err = UsageOf(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, 1, u.Sessions())
	o.Client = &agent.Gemini
	u, err = UsageOf(t.Context(), o)
	require.NoError(t, err)
	require.Zero(t, u.Sessions(), "its sessions cannot be read")
}

// TestToolsCalledByCode: in Codex's code mode the transcript names only exec, and a search by the API has a form of its own.
func TestToolsCalledByCode(t *testing.T) {
	home := t.TempDir()
	text := `{"timestamp":"2026-11-20T10:00:00Z","type":"session_meta","payload":{"id":"a","cwd":"/p"}}
{"timestamp":"2026-11-20T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go on"}]}}
{"timestamp":"2026-11-20T10:00:02Z","type":"response_item","payload":{"type":"custom_tool_call","call_id":"c1","name":"exec","input":"text(await tools.update_goal({status: 'done'}))"}}
{"timestamp":"2026-11-20T10:00:03Z","type":"response_item","payload":{"type":"web_search_call","status":"completed","action":{"type":"search","query":"go"}}}
{"timestamp":"2026-11-20T10:00:03Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}}
`
	writeAt(t, filepath.Join(home, ".codex", "sessions", "2026", "r.jsonl"), text, time.Now())
	u, err := UsageOf(t.Context(), UsageOptions{Client: &agent.Codex, Now: time.Now(), Lookup: func(name string) (string, bool) { return home, name == "HOME" }})
	require.NoError(t, err)
	require.Equal(t, 1, u.Sessions())
	for _, name := range []string{"update_goal", "web_search"} {
		used, _ := u.PartUse.Of(sessions.Part{Kind: sessions.ToolPart, Name: name})
		require.Equal(t, 1, used, name)
	}
}

// TestFirstOfAProject: with a folder, the newest session of that folder counts, not the newest of all.
func TestFirstOfAProject(t *testing.T) {
	home := t.TempDir()
	now := time.Now()
	projects := filepath.Join(home, ".claude", "projects", "p")
	small := strings.Replace(usageTranscript("b", "/q", "Bash"), "20000", "300", 1)
	writeAt(t, filepath.Join(projects, "a.jsonl"), usageTranscript("a", "/p", "Bash"), now.Add(-time.Hour))
	writeAt(t, filepath.Join(projects, "b.jsonl"), small, now)
	o := UsageOptions{Client: &agent.Claude, Now: now, Lookup: func(name string) (string, bool) { return home, name == "HOME" }}
	for folder, want := range map[string]int{"": 400, "/p": 20100, "/q": 400, "/r": 0} {
		o.Folder = folder
		tokens, ok := FirstCall(t.Context(), o)
		require.Equal(t, want, tokens, folder)
		require.Equal(t, want > 0, ok, folder)
	}
}

func TestTheLineOfInit(t *testing.T) {
	home := t.TempDir()
	o := UsageOptions{Client: &agent.Claude, Now: time.Now(), Lookup: func(name string) (string, bool) { return home, name == "HOME" }}
	require.Equal(t, "Claude Code sends 13100 tokens and more before your first word, with every call: \"mcp-pruner context claude\" shows what they are.\n", UsageLine(t.Context(), o))
	path := filepath.Join(home, ".claude", "projects", "p", "a.jsonl")
	writeAt(t, path, usageTranscript("a", "/p", "Bash"), o.Now)
	require.Equal(t, "Your newest session of Claude Code began with 20100 tokens, paid with every call: \"mcp-pruner context claude\" shows what they are.\n", UsageLine(t.Context(), o))
	o.Client = &agent.Cursor
	require.Empty(t, UsageLine(t.Context(), o))
}
