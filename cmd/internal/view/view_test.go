package view

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

var begun = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// home is a home with one session of six calls; the first has a result of the given text.
func home(t *testing.T, result string) (s Sources, dir, path string) {
	t.Helper()
	dir = t.TempDir()
	path = filepath.Join(dir, ".claude", "projects", "p", "a.jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	var b strings.Builder
	for i := range 6 {
		prompt := 10_000
		if i > 0 {
			prompt = 14_000 + 100*i
		}
		fmt.Fprintf(&b, `{"type":"assistant","sessionId":"a","cwd":"/p","timestamp":%q,"message":{"id":"m%d","role":"assistant","model":"claude-x","content":[{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":"x"}}],"usage":{"input_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":%d,"output_tokens":5}}}`+"\n",
			begun.Add(time.Duration(i)*time.Minute).Format(time.RFC3339), i, i, prompt)
		out := "ok"
		if i == 0 {
			out = result
		}
		fmt.Fprintf(&b, `{"type":"user","sessionId":"a","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":%q}]}}`+"\n", i, out)
	}
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
	env := map[string]string{"HOME": dir, "XDG_STATE_HOME": filepath.Join(dir, "state")}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	past, err := assemble.OpenHistory("", "", lookup)
	require.NoError(t, err)
	return Sources{Lookup: lookup, Ledger: past}, dir, path
}

// TestClearings: what the ledger says was cleared is in the window from the next call on, with its reason, its break-even, and the
// way back. The ledger is only read.
func TestClearings(t *testing.T) {
	text := strings.Repeat("a line of a long result\n", 600)
	s, dir, path := home(t, text)
	file := filepath.Join(dir, "state", "mcp-pruner", "ledger.db")
	for i, free := range []bool{false, true} {
		store, err := store.OpenLedger(store.LedgerFile{File: file, Now: func() time.Time { return begun.Add(150 * time.Second) }})
		require.NoError(t, err)
		key, id := [32]byte{byte(i + 1)}, contextgc.SessionID("a")
		if free {
			text = "another text that the transcript does not have"
		}
		ids, err := store.Put(context.Background(), contextgc.Entry{Text: text, Key: key[:], Segment: contextgc.Segment{Project: "p", Session: id, Tool: "Bash", Tokens: 4000}})
		require.NoError(t, err)
		place := contextgc.Place{ID: [32]byte{9, byte(i)}, Marks: [][32]byte{{8, byte(i)}}, Why: "the planner's words", Pays: 7}
		if free {
			place.Pays = 0
		}
		_, err = store.Clear(context.Background(), place, []contextgc.Clearing{{Item: key, Segment: ids[0], Stub: "[cleared Bash; `mcp-pruner recover prn_0000000" + fmt.Sprint(i) + "` prints them]", Tokens: 4000, Free: free}})
		require.NoError(t, err)
		require.NoError(t, store.AddUsage(context.Background(), contextgc.Usage{Session: id, Before: 9000, After: 7000}))
		require.NoError(t, store.Close())
	}
	before, err := os.ReadFile(file)
	require.NoError(t, err)

	x := Index{Sources: s}
	_, err = x.Look()
	require.NoError(t, err)
	x.Read(t.Context(), func() {})
	list := x.List()
	require.Len(t, list, 1)
	found, ok := x.Find(list[0].Key)
	require.True(t, ok)
	require.Equal(t, path, found.path)
	w, ok := s.Window(t.Context(), found, list[0].Key)
	require.True(t, ok)
	require.Empty(t, w.Failed)

	require.Len(t, w.Events, 2)
	paid, free := w.Events[0], w.Events[1]
	assert.Equal(t, WasCleared, paid.Kind)
	assert.Equal(t, 3, paid.Call, "the first call after 150 seconds")
	assert.Equal(t, "t0", paid.Use)
	assert.NotEmpty(t, paid.About, "the command, which the ledger does not have")
	assert.Equal(t, "mcp-pruner recover prn_00000000", paid.Back)
	assert.Equal(t, 7, paid.Pays)
	assert.Equal(t, 3, paid.Since)
	assert.Equal(t, "the planner's words", paid.Why)
	assert.Zero(t, free.Pays)
	assert.InDelta(t, 2000, w.Clearing, 1e-9)
	assert.InDelta(t, 2000, w.Net, 1e-9)
	assert.Equal(t, []any{w.Net, w.Pct, w.Money}, []any{list[0].Net, list[0].Pct, list[0].Money}, "the list has the account of the window")

	cleared := paid.Tokens - paid.Sent
	assert.Positive(t, cleared)
	c := w.Columns
	assert.Equal(t, []int{0, 0, 0, 2 * cleared, 2 * cleared, 2 * cleared}, c.Cleared)
	for i := range c.Prompt {
		assert.Equal(t, c.Prompt[i], c.Prefix[i]+c.Results[i]+c.Rest[i], "call %d is the sum of its parts", i)
	}
	assert.Greater(t, c.Results[2], c.Results[3]+3000, "what was cleared is no longer in the prompt")

	after, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, before, after, "the ledger is only read")
	entries, err := filepath.Glob(file + "*")
	require.NoError(t, err)
	assert.Equal(t, []string{file}, entries)
}

// TestNothing: without sessions, state or ledger there is an empty list, and nothing is created.
func TestNothing(t *testing.T) {
	dir := t.TempDir()
	s := Sources{Lookup: func(name string) (string, bool) { return dir, name == "HOME" }}
	m, err := s.Copy(t.Context(), true)
	require.NoError(t, err)
	assert.Empty(t, m.Sessions)
	assert.Nil(t, m.Trace)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
	_, ok := s.Original(t.Context(), "../../etc/passwd")
	assert.False(t, ok)
	_, ok = s.Original(t.Context(), "prn_00000000")
	assert.False(t, ok)
}

// TestTheIndexFollows: a session that grows is read again, one that is gone leaves the list, and a damaged one does no harm.
func TestTheIndexFollows(t *testing.T) {
	s, _, path := home(t, "ok")
	x := Index{Sources: s}
	look := func() bool {
		changed, err := x.Look()
		require.NoError(t, err)
		x.Read(t.Context(), func() {})
		return changed
	}
	require.True(t, look())
	require.False(t, look(), "nothing has changed")
	require.Equal(t, 6, x.List()[0].Calls)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(whole, "\xff{ not JSON"...), 0o600))
	require.True(t, look())
	require.Equal(t, 6, x.List()[0].Calls)
	require.NoError(t, os.WriteFile(path, []byte("nothing of a client"), 0o600))
	require.True(t, look())
	require.Zero(t, x.List()[0].Calls)
	require.NoError(t, os.Remove(path))
	require.True(t, look())
	require.Empty(t, x.List())
}

// TestKeptLines: lines are known by their numbers, else by their order and the markers between them.
func TestKeptLines(t *testing.T) {
	lines := []string{"a {", "}", "b {", "}", "c {", "}"}
	for name, c := range map[string]struct {
		shown []string
		want  map[int]bool
	}{
		"numbers":            {[]string{" 3→b {\n 4→}"}, map[int]bool{3: true, 4: true}},
		"numbers in a note":  {[]string{"1\ta {", "kept besides:\n6\t}"}, map[int]bool{1: true, 6: true}},
		"markers":            {[]string{"[2 of 6 lines; rest: `x prn_00000000 --lines A-B`]\n... 1-4\nc {\n}"}, map[int]bool{5: true, 6: true}},
		"order":              {[]string{"a {\n}"}, map[int]bool{1: true, 2: true}},
		"numbers of another": {[]string{"3\tx"}, map[int]bool{}},
		"nothing":            {[]string{""}, map[int]bool{}},
	} {
		assert.Equal(t, c.want, keptLines(lines, 1, c.shown), name)
	}
}

// TestTheUserMayReadAllProjects: an agent gets originals of its own project only; the page is the user's.
func TestTheUserMayReadAllProjects(t *testing.T) {
	s, dir, _ := home(t, "ok")
	project := t.TempDir()
	id, err := recovery.ArchiveIn(filepath.Join(dir, "state", "mcp-pruner")).Put("the text\n", project, 7)
	require.NoError(t, err)
	got, ok := s.Original(t.Context(), id)
	require.True(t, ok)
	assert.Equal(t, "the text\n", got.Text)
}

// TestWhatTheProxyPruned: a result that the proxy pruned when it was new is a cut with its lines side by side, from the ledger.
func TestWhatTheProxyPruned(t *testing.T) {
	text := strings.Repeat("a line of a long result\n", 600) + "the last line\n"
	s, dir, path := home(t, text)
	state := filepath.Join(dir, "state", "mcp-pruner")
	store, err := store.OpenLedger(store.LedgerFile{File: filepath.Join(state, "ledger.db"), Now: func() time.Time { return begun.Add(30 * time.Second) }})
	require.NoError(t, err)
	key := [32]byte{1}
	ids, err := store.Put(t.Context(), contextgc.Entry{Text: text, Key: key[:], Segment: contextgc.Segment{Project: "p", Session: contextgc.SessionID("a"), Tool: "Bash", Tokens: 4000}})
	require.NoError(t, err)
	id, err := recovery.Index{State: state}.Claim(recovery.NewEntry(sha256.Sum256([]byte(text)), store.Name(), "/p", 1))
	require.NoError(t, err)
	sent := "[1 of 601 lines; rest: `mcp-pruner recover " + id + " --lines A-B`]\n... 1-600\nthe last line\n"
	_, err = store.Clear(t.Context(), contextgc.Place{ID: [32]byte{9}, Marks: [][32]byte{{8}}}, []contextgc.Clearing{{Item: key, Segment: ids[0], Stub: sent, Tokens: 4000}})
	require.NoError(t, err)
	require.NoError(t, store.Close())

	w, ok := s.Window(t.Context(), transcript{path: path}, keyOf(path, ""))
	require.True(t, ok)
	require.Empty(t, w.Failed)
	require.Len(t, w.Events, 1)
	e := w.Events[0]
	assert.Equal(t, WasCut, e.Kind)
	assert.Equal(t, 1, e.Call)
	assert.Positive(t, e.Gross)
	assert.InDelta(t, e.Gross, w.Net, 1e-9)
	c := w.Columns
	assert.Equal(t, e.Tokens-e.Sent, c.Cut[1])
	assert.Less(t, c.Results[1], 1000, "the client's record has the whole, the window has not")

	cut, ok := s.Cut(t.Context(), path, keyOf(path, ""), id)
	require.True(t, ok)
	require.Len(t, cut.Lines, 601)
	assert.Empty(t, cut.Why)
	assert.False(t, cut.Lines[0].Kept)
	assert.True(t, cut.Lines[600].Kept)
}
