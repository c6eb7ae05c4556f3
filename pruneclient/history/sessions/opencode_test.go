package sessions

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/sqlfile"
)

// opencodeMessages is a session with two model calls in one answer, a compaction, and an answer after it.
var opencodeMessages = []struct {
	id, data string
	parts    []string
}{
	{"msg_1", `{"role":"user"}`, []string{`{"type":"text","text":"why does it fail"}`, `{"type":"text","text":"read a.go","synthetic":true}`, `{"type":"text","text":"x","ignored":true}`}},
	{"msg_2", `{"role":"assistant","modelID":"gpt-5.3-codex"}`, []string{
		`{"type":"step-start"}`, `{"type":"reasoning","text":"hm"}`, `{"type":"text","text":"I look."}`,
		`{"type":"tool","tool":"read","callID":"c1","state":{"status":"completed","input":{"filePath":"a.go"},"output":"package a"}}`,
		`{"type":"tool","tool":"bash","callID":"c2","state":{"status":"error","input":{"command":"x"},"error":"no such command"}}`,
		`{"type":"step-finish","tokens":{"input":10,"output":20,"reasoning":5,"cache":{"read":100,"write":30}}}`,
		`{"type":"step-start"}`, `{"type":"text","text":"Done."}`, `{"type":"step-finish","tokens":{"input":1,"output":2,"reasoning":0,"cache":{"read":3,"write":4}}}`,
	}},
	{"msg_3", `{"role":"assistant","summary":true}`, []string{`{"type":"text","text":"what happened"}`}},
	{"msg_4", `{"role":"assistant"}`, []string{`{"type":"text","text":"more"}`, `{"type":`}},
}

func wantOpencode() []Step {
	file, command := map[string]any{"filePath": "a.go"}, map[string]any{"command": "x"}
	return []Step{
		{Kind: User, Text: "why does it fail"}, {Kind: Attach, Type: "synthetic", Text: "read a.go"},
		{Kind: Call, Model: "gpt-5.3-codex", Usage: &Usage{Input: 10, CacheWrite: 30, CacheRead: 100, Output: 25}},
		{Kind: Say, Think: "hm"}, {Kind: Say, Text: "I look."},
		{Kind: Use, ID: "c1", Tool: "read", Args: file}, {Kind: Use, ID: "c2", Tool: "bash", Args: command},
		{Kind: Result, ID: "c1", Tool: "read", Args: file, Out: "package a"}, {Kind: Result, ID: "c2", Tool: "bash", Args: command, Out: "no such command", Err: true},
		{Kind: Call, Model: "gpt-5.3-codex", Usage: &Usage{Input: 1, CacheWrite: 4, CacheRead: 3, Output: 2}}, {Kind: Say, Text: "Done."},
		{Kind: Call}, {Kind: Say, Text: "what happened"}, {Kind: Compact},
		{Kind: Call}, {Kind: Say, Text: "more"},
	}
}

// One part is broken: it is reported, and the rest of the session is read.
func checkOpencode(t *testing.T, path string) {
	t.Helper()
	var got []Session
	err := ReadFile(t.Context(), path, func(s Session) error {
		got = append(got, s)
		return nil
	})
	require.ErrorContains(t, err, "msg_4")
	require.Len(t, got, 1, "a session without a model call is left out")
	assert.Equal(t, wantOpencode(), got[0].Steps)
	got[0].Steps = nil
	assert.Equal(t, Session{ID: "ses_1", Source: "opencode", Project: "/r", Version: "1.18.33", Begun: time.UnixMilli(1795535346779).UTC()}, got[0])
}

// TestOpencodesClearingsEndResults: a result that opencode cleared stands in no later prompt, so that it costs nothing from then on, and
// nothing is saved there.
func TestOpencodesClearingsEndResults(t *testing.T) {
	read := func(compacted string) *Bill {
		r := newOpencodeReader(opencodeSession{ID: "ses_1"})
		call := `{"type":"step-start"}`
		end := `{"type":"step-finish","tokens":{"input":0,"output":20,"cache":{"read":9000,"write":0}}}`
		tool := func(id string) string {
			return `{"type":"tool","tool":"bash","callID":"` + id + `","state":{"status":"completed","input":{"command":"x"},"output":"` + strings.Repeat("word ", 1000) + `"` + compacted + `}}`
		}
		for at, parts := range [][]string{{call, tool("c1"), end, call, end}, {call, end}, {call, end}} {
			var raw [][]byte
			for _, p := range parts {
				raw = append(raw, []byte(p))
			}
			r.message("m", fmt.Appendf(nil, `{"role":"assistant","time":{"created":%d}}`, 1000*(at+1)), raw)
		}
		require.NoError(t, r.bad)
		return NewBill(r.session, DefaultPrices)
	}
	whole, cleared := read(""), read(`,"time":{"compacted":2500}`)
	require.Len(t, cleared.Results, 1)
	assert.Equal(t, []int{0, 3}, []int{whole.Results[0].Until, cleared.Results[0].Until})
	assert.InDelta(t, whole.Results[0].Weight-cleared.Results[0].Weight, whole.Prices.CacheRead, 1e-9, "one call less reads it")
	before, _ := whole.Contents()
	after, _ := cleared.Contents()
	n := float64(cleared.Results[0].Tokens)
	assert.InDelta(t, whole.Prices.CacheRead*n, before["result: bash"].Sum()-after["result: bash"].Sum(), 1e-6)
	assert.InDelta(t, after["result: bash"].Sum(), n*cleared.Results[0].Weight, n*cleared.Prices.CacheWrite, "as the weight says, but for the entry")
}

func TestOpencodesDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "opencode.db")
	file, err := sql.Open("sqlite", sqlfile.Name(path, url.Values{"_pragma": {"journal_mode(WAL)"}}))
	require.NoError(t, err)
	_, err = file.Exec(`
CREATE TABLE session (id text PRIMARY KEY, directory text NOT NULL, version text NOT NULL, time_created integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, data text NOT NULL);
INSERT INTO session VALUES ('ses_1', '/r', '1.18.33', 1795535346779), ('ses_0', '/r', '1.18.33', 1)`)
	require.NoError(t, err)
	for at, m := range opencodeMessages {
		_, err := file.Exec("INSERT INTO message VALUES (?, 'ses_1', ?, ?)", m.id, at, m.data)
		require.NoError(t, err)
		for i, part := range m.parts {
			_, err := file.Exec("INSERT INTO part VALUES (?, ?, 'ses_1', ?)", fmt.Sprintf("prt_%d%02d", at, i), m.id, part)
			require.NoError(t, err)
		}
	}
	checkOpencode(t, path) // while opencode has it open
	require.NoError(t, file.Close())
	checkOpencode(t, path)
	found, err := Files([]string{filepath.Dir(path)})
	require.NoError(t, err)
	assert.Equal(t, []string{path}, found)
}

func TestOpencodesFiles(t *testing.T) {
	storage := t.TempDir()
	write := func(text string, names ...string) string {
		path := filepath.Join(append([]string{storage}, names...)...)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	path := write(`{"id":"ses_1","directory":"/r","version":"1.18.33","time":{"created":1795535346779}}`, "session", "p", "ses_1.json")
	for _, m := range opencodeMessages {
		write(m.data, "message", "ses_1", m.id+".json")
		for i, part := range m.parts {
			write(part, "part", m.id, fmt.Sprintf("prt_%02d.json", i))
		}
	}
	checkOpencode(t, path)
	found, err := Files([]string{storage})
	require.NoError(t, err)
	assert.Equal(t, []string{path}, found, "messages and parts are no sessions")
}

func TestAnotherDatabaseIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "opencode.db")
	file, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = file.Exec("CREATE TABLE x (y)")
	require.NoError(t, err)
	require.NoError(t, file.Close())
	err = ReadFile(t.Context(), path, func(Session) error { return nil })
	require.ErrorContains(t, err, path+": not a database of opencode's sessions")
}
