package hook

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// TestTold: at the end of a turn the user is told what was cut, once for each news, and not if the setting is off.
func TestTold(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	dir := filepath.Join(home, "mcp-pruner")
	require.NoError(t, os.Mkdir(filepath.Join(project, ".git"), 0o700))
	setting := ""
	told := func(c *agent.Client, message string) string {
		t.Helper()
		var out bytes.Buffer
		Run(t.Context(), c, Tools{}, func(name string) (string, bool) {
			v := map[string]string{"XDG_STATE_HOME": home, "HOME": home, "MCP_PRUNER_TELL": setting}[name]
			return v, v != ""
		}, strings.NewReader(message), &out)
		return out.String()
	}
	stop := `{"hook_event_name":"Stop","session_id":"s","cwd":"` + filepath.ToSlash(project) + `"}`
	require.Empty(t, told(&agent.Claude, stop), "nothing was cut")
	AddNote(dir, Note{Client: "claude", Session: "s", ID: "prn_00000001", Tokens: 9000, Sent: 400})
	setting = "off"
	require.Empty(t, told(&agent.Claude, stop))
	setting = ""
	require.NoError(t, os.WriteFile(filepath.Join(project, ProjectFile), []byte("MCP_PRUNER_TELL=off\n"), 0o600))
	require.Empty(t, told(&agent.Claude, stop))
	require.NoError(t, os.Remove(filepath.Join(project, ProjectFile)))
	require.Equal(t, `{"systemMessage":"mcp-pruner: 1 result cut, 8.6k tokens less"}`, told(&agent.Claude, stop))
	require.Empty(t, told(&agent.Claude, stop), "it was told")
	AddNote(dir, Note{ID: "prn_00000001", Back: true, Sent: 700})
	require.Equal(t, `{"systemMessage":"mcp-pruner: 1 result cut, 8.6k tokens less, 1 fetched again (700, and a further turn each)"}`, told(&agent.Claude, stop))
	require.Equal(t, toldLast{Done: "mcp-pruner: 1 result cut, 8.6k tokens less, 1 fetched again"}, ReadTold(dir, "s"), "no net without a transcript")
	for _, session := range []string{"", "other", "../s"} {
		require.Empty(t, told(&agent.Claude, `{"hook_event_name":"Stop","session_id":"`+session+`"}`), session)
	}
	AddNote(dir, Note{Client: "opencode", Session: "ses_1", ID: "prn_00000002", Tokens: 2000, Sent: 1000})
	require.Equal(t, `{"message":"mcp-pruner: 1 result cut, 1.0k tokens less"}`, told(&agent.Opencode, `{"event":"idle","sessionID":"ses_1"}`))
}

// TestTheNetIsCharged: the message at the end of a turn has the net of gain, in which a result that was fetched again costs the turn that
// it took, and the status line repeats it.
func TestTheNetIsCharged(t *testing.T) {
	w := newWorld(t)
	lines := story("short", 40_000)
	writeLines(t, w.transcript, lines)
	dir := filepath.Join(w.state, "mcp-pruner")
	AddNote(dir, Note{Client: "claude", Session: "s", Transcript: w.transcript, Call: "t1", Tool: "Read", ID: "prn_00000001", Tokens: 9000, Sent: 400})
	stop := map[string]any{"hook_event_name": "Stop", "session_id": "s", "transcript_path": w.transcript, "cwd": w.state}
	told := func() (string, GainPart) {
		t.Helper()
		said := w.hook([]string{"claude"}, stop)
		_, text := gainVerb(w, "--json")
		var g Gain
		require.NoError(t, json.Unmarshal([]byte(text), &g))
		require.Equal(t, &g.Total, ReadTold(dir, "s").Saved, "one account")
		var status bytes.Buffer
		p := command.Process{Args: []string{"statusline"}, Env: []string{"XDG_STATE_HOME=" + w.state}, Stdin: strings.NewReader(`{"session_id":"s"}`), Stdout: &status, Stderr: &status}
		require.Zero(t, RunVerb(p))
		require.Equal(t, `{"systemMessage":"`+strings.TrimSuffix(status.String(), "\n")+`"}`, said)
		return said, g.Total
	}
	said, _ := told()
	require.Contains(t, said, "1 result cut, 8.6k tokens less, net +12.5k fresh input tokens (+")
	require.Empty(t, w.hook([]string{"claude"}, stop), "it was told")

	again := story("short", 40_000)
	read, result, end := again[1], again[2], again[5]
	child(read, "message")["content"].([]any)[1].(map[string]any)["id"] = "t2"
	child(result, "message")["content"].([]any)[0].(map[string]any)["tool_use_id"] = "t2"
	child(read, "message")["id"], child(read, "message")["usage"], child(end, "message")["id"] = "m5", child(end, "message")["usage"], "m6"
	writeLines(t, w.transcript, append(lines, read, result, end))
	said, charged := told()
	require.Contains(t, said, "1 result cut, 8.6k tokens less, 1 fetched again, net ")
	require.Greater(t, charged.Rereads, 0.1*40_000, "the turn read the whole context once more")
}

// TestTheNetOfALateTranscript: a client may write a turn's results after the hook at its end has begun.
func TestTheNetOfALateTranscript(t *testing.T) {
	defer func(before func(time.Duration)) { pause = before }(pause)
	w := newWorld(t)
	lines := story("short", 40_000)
	writeLines(t, w.transcript, lines[:1])
	AddNote(filepath.Join(w.state, "mcp-pruner"), Note{
		Client: "claude", Session: "s", Transcript: w.transcript, Call: "t1", Tool: "Read", ID: "prn_00000001", Tokens: 9000, Sent: 400,
	})
	pause = func(time.Duration) { writeLines(t, w.transcript, lines) }
	stop := map[string]any{"hook_event_name": "Stop", "session_id": "s", "transcript_path": w.transcript, "cwd": w.state}
	require.Contains(t, w.hook([]string{"claude"}, stop), "net +12.5k fresh input tokens")
}

// TestBesideClearing: once the proxy, which clears old results, has seen ten calls of a session, text of files stays whole, and
// nothing else.
func TestBesideClearing(t *testing.T) {
	w := newWorld(t)
	ledger, err := store.OpenLedger(store.LedgerFile{File: filepath.Join(w.state, "mcp-pruner", "ledger.db"), Now: time.Now})
	require.NoError(t, err)
	defer func() { require.NoError(t, ledger.Close()) }()
	read := func(file string) bool {
		return w.hook([]string{"claude"}, w.message("Read", map[string]any{"file_path": file}, readResponse(source(), 1))) != ""
	}
	call := contextgc.Usage{Session: contextgc.SessionID("s"), API: "anthropic", Model: "claude-opus-5-5"}
	for range 9 {
		require.NoError(t, ledger.AddUsage(t.Context(), call))
	}
	require.True(t, read("/r/early.go"), "it is cut")
	require.NoError(t, ledger.AddUsage(t.Context(), call))
	require.False(t, read("/r/late.go"), "it is left to clearing")
	log := map[string]any{"stdout": failingTests(), "stderr": "", "interrupted": false, "isImage": false}
	require.NotEmpty(t, w.hook([]string{"claude"}, w.message("Bash", map[string]any{"command": "go test ./...", "description": "which test failed and why"}, log)))
}

// TestMoneyOfASession: a session that a subscription pays saves tokens, and no money.
func TestMoneyOfASession(t *testing.T) {
	by := Proxied{Usage: contextgc.Usage{Model: "claude-opus-5-5", Input: 8000, Before: 50_000, After: 3000, Cleared: 2}}
	for _, plan := range []bool{false, true} {
		p := SessionGain(&sessions.Carried{B: &sessions.Bill{Session: sessions.Session{Plan: plan}}}, nil, by)
		require.Equal(t, 47_000.0, p.Net)
		require.Equal(t, plan, p.Dollars == 0)
	}
}

// TestOneSum: what hooks cut and what the proxy cleared in a session is one sum, in the message, in gain and on its day; without a cut
// the clearing is told alone.
func TestOneSum(t *testing.T) {
	w := newWorld(t)
	writeLines(t, w.transcript, story("short", 40_000))
	dir := filepath.Join(w.state, "mcp-pruner")
	AddNote(dir, Note{Client: "claude", Session: "s", Transcript: w.transcript, Call: "t1", Tool: "Read", ID: "prn_00000001", Tokens: 9000, Sent: 400})
	ledger, err := store.OpenLedger(store.LedgerFile{File: filepath.Join(dir, "ledger.db"), Now: func() time.Time { return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC) }})
	require.NoError(t, err)
	for _, session := range []string{"s", "only"} {
		require.NoError(t, ledger.AddUsage(t.Context(), contextgc.Usage{Session: contextgc.SessionID(session), API: "anthropic", Model: "claude-opus-5-5",
			Input: 8000, Before: 5000, After: 3000, Cleared: 2}))
	}
	require.NoError(t, ledger.Close())
	stop := func(session string) string {
		return w.hook([]string{"claude"}, map[string]any{"hook_event_name": "Stop", "session_id": session, "transcript_path": w.transcript, "cwd": w.state})
	}
	require.Contains(t, stop("s"), "1 result cut, 8.6k tokens less, 2 cleared, net +14.5k fresh input tokens (+")
	require.Equal(t, `{"systemMessage":"mcp-pruner: 2 results cleared, net +2.0k fresh input tokens (+20.0 %, +$0.01 at list price)"}`, stop("only"))
	_, text := gainVerb(w, "--json")
	var g Gain
	require.NoError(t, json.Unmarshal([]byte(text), &g))
	require.InDelta(t, ReadTold(dir, "s").Saved.Net+ReadTold(dir, "only").Saved.Net, g.Total.Net, 1e-6)
	require.Equal(t, 2, g.Sessions)
	require.InDelta(t, g.Total.Gross-g.Total.Rereads+4000, g.Total.Net, 1e-6)
	require.InDelta(t, g.Total.Net, g.Days["2026-11-01"].Net, 1e-6)
}
