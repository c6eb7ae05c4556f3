package view

import (
	"context"
	"crypto/sha256"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// in makes the sources read the ledger in a database, which the environment names.
func (s *Sources) in(t *testing.T, database, owner string) {
	t.Helper()
	files := s.Lookup
	s.Lookup = func(name string) (string, bool) {
		if name == "MCP_PRUNER_STORE" {
			return database, true
		}
		return files(name)
	}
	past, err := assemble.OpenHistory("", owner, s.Lookup)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, past.Close()) })
	s.Ledger = past
}

// restricts are the lines of a dump that are different each time.
var restricts = regexp.MustCompile(`(?m)^\\(un)?restrict .*$`)

// dump returns all that a database has: tables, rows and the numbers that were given out.
func dump(t *testing.T, server *storetest.Server, database string) [sha256.Size]byte {
	t.Helper()
	out, err := server.Tool("pg_dump", "-d", database).Output()
	require.NoError(t, err)
	return sha256.Sum256(restricts.ReplaceAll(out, nil))
}

// TestALedgerInADatabase: what the proxy cleared is shown from a database, too, for each subject what is its own, with the text to
// copy. The database is only read.
func TestALedgerInADatabase(t *testing.T) {
	server := storetest.Start(t)
	database := server.Database(t)
	text := strings.Repeat("a line of a long result\n", 600)
	s, _, path := home(t, text)
	db, err := store.Open(store.Database{Name: database})
	require.NoError(t, err)
	kept := store.LedgerIn(db, func() time.Time { return begun.Add(150 * time.Second) })
	ctx, key := agent.WithSubject(t.Context(), "alice"), [32]byte{1}
	session := contextgc.SessionID("a")
	ids, err := kept.Put(ctx, contextgc.Entry{Text: text, Key: key[:], Segment: contextgc.Segment{Project: "p", Session: session, Tool: "Bash", Tokens: 4000}})
	require.NoError(t, err)
	claimed, err := store.Shown{DB: db}.Claim(ctx, recovery.NewEntry(sha256.Sum256([]byte(text)), kept.Name(), "/p", 1))
	require.NoError(t, err)
	id := claimed[0]
	_, err = kept.Clear(ctx, contextgc.Place{ID: [32]byte{9}, Marks: [][32]byte{{8}}},
		[]contextgc.Clearing{{Item: key, Segment: ids[0], Stub: "[cleared Bash; `mcp-pruner recover " + id + "` prints it]", Tokens: 4000}})
	require.NoError(t, err)
	require.NoError(t, kept.AddUsage(ctx, contextgc.Usage{Session: session, Before: 9000, After: 7000}))
	require.NoError(t, kept.Close())
	before := dump(t, server, database)

	s.in(t, database, "alice")
	w, ok := s.Window(t.Context(), transcript{path: path}, keyOf(path, ""))
	require.True(t, ok)
	require.Empty(t, w.Failed)
	require.Len(t, w.Events, 1)
	e := w.Events[0]
	assert.Equal(t, []any{WasCleared, 3, "t0", id}, []any{e.Kind, e.Call, e.Use, e.ID})
	assert.InDelta(t, 2000, w.Clearing, 1e-9)
	original, ok := s.Original(t.Context(), id)
	require.True(t, ok)
	assert.Equal(t, text, original.Text)
	m, err := s.Copy(t.Context(), false)
	require.NoError(t, err)
	assert.Len(t, m.Windows[m.Sessions.([]Summary)[0].Key].(Window).Events, 1, "a standing copy has it, too")

	s.in(t, database, "")
	w, ok = s.Window(t.Context(), transcript{path: path}, keyOf(path, ""))
	require.True(t, ok)
	assert.Empty(t, w.Failed)
	assert.Empty(t, w.Events, "it is not the owner's")
	_, ok = s.Original(t.Context(), id)
	assert.False(t, ok)
	assert.Equal(t, before, dump(t, server, database), "the database is only read")
}

// TestADatabaseWithoutTables: the window says what to do, and nothing is created.
func TestADatabaseWithoutTables(t *testing.T) {
	server := storetest.Start(t)
	database := server.Empty(t)
	before := dump(t, server, database)
	s, _, path := home(t, "text")
	s.in(t, database, "")
	w, ok := s.Window(t.Context(), transcript{path: path}, keyOf(path, ""))
	require.True(t, ok)
	assert.Contains(t, w.Failed, "what the proxy cleared is not shown")
	assert.Contains(t, w.Failed, `run "mcp-pruner store migrate"`)
	assert.Len(t, w.Columns.Prompt, 6)
	assert.Equal(t, before, dump(t, server, database))
}

// TestADatabaseThatDoesNotAnswer: a server that takes connections and says nothing holds a window up once and for a moment; the
// window has everything else, and no password.
func TestADatabaseThatDoesNotAnswer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	s, _, path := home(t, "text")
	s.in(t, "postgres://user:word@"+listener.Addr().String()+"/none?password=second", "")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range 2 {
		w, ok := s.Window(ctx, transcript{path: path}, keyOf(path, ""))
		require.True(t, ok)
		assert.Contains(t, w.Failed, "what the proxy cleared is not shown")
		assert.Contains(t, w.Failed, "has not answered within 2s")
		assert.NotContains(t, w.Failed, "word")
		assert.NotContains(t, w.Failed, "second")
		assert.Len(t, w.Columns.Prompt, 6)
	}
	require.NoError(t, ctx.Err())
}
