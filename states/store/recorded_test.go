package store_test

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// TestRecordedFolder and TestRecordedDatabase: what the program wrote before this package existed is read as it was, and
// goes on being written. testdata/recorded has the files, and the database as SQL.
func TestRecordedFolder(t *testing.T) {
	file := func(name string) string {
		in, err := os.Open(filepath.Join("testdata/recorded", name+".gz"))
		require.NoError(t, err)
		defer in.Close()
		text, err := gzip.NewReader(in)
		require.NoError(t, err)
		all, err := io.ReadAll(text)
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, all, 0o600))
		return path
	}
	clock := func() time.Time { return recordedAt(6) }
	report := func(m string) { t.Error(m) }
	ledger, err := store.OpenLedger(store.LedgerFile{File: file("ledger.db"), Now: clock, Report: report})
	require.NoError(t, err)
	keys, err := store.OpenKeys(file("keys.db"), report, clock)
	require.NoError(t, err)
	originals, err := store.OpenOriginals(file("originals.db"), recovery.Settings{Now: clock, TTL: 24 * time.Hour, Report: report})
	require.NoError(t, err)
	readsRecorded(t, ledger, keys, originals, "prn_b9af5aa55947e0331cb8d9383fb79990", "prn_9f9527827b329d0c17e00f7a33a2dfa7")
}

func TestRecordedDatabase(t *testing.T) {
	server := storetest.Start(t)
	name := server.Empty(t)
	statements, err := os.ReadFile("testdata/recorded/database.sql")
	require.NoError(t, err)
	server.SQL(t, name, string(statements))
	_, _, err = store.Migrate(t.Context(), store.Database{Name: name})
	require.NoError(t, err)
	open := func() *store.DB {
		db, err := store.Open(store.Database{Name: name, Patience: time.Minute})
		require.NoError(t, err)
		return db
	}
	clock := func() time.Time { return recordedAt(6) }
	originals, err := store.OriginalsIn(open(), recovery.Settings{Now: clock, TTL: 24 * time.Hour})
	require.NoError(t, err)
	db := open()
	ann := agent.WithSubject(t.Context(), "ann")
	hers, err := store.LedgerIn(db, clock).List(ann, contextgc.Filter{})
	require.NoError(t, err)
	require.Len(t, hers, 1)
	text, line, err := store.Shown{DB: db}.Text(t.Context(), "prn_5f32edec")
	require.NoError(t, err)
	assert.Equal(t, []any{"old text", 3}, []any{text, line})
	var lines, heads strings.Builder
	require.NoError(t, store.ReadTraces(t.Context(), db, &lines, &heads))
	assert.Equal(t, "{\"a\":1}\n{\"b\":2}\n", lines.String())
	assert.Equal(t, 2, strings.Count(heads.String(), "\n"))
	readsRecorded(t, store.LedgerIn(db, clock), store.KeysIn(open()), originals, "prn_1a0c52b2bd7810938efadf02d1e735fd", "prn_128d54c8a40969d40fa66a00750a2870")
}

func recordedAt(hour int) time.Time { return time.Date(2026, 11, 1, hour, 0, 0, 123000, time.UTC) }

func readsRecorded(t *testing.T, l *store.Ledger, keys *store.Keys, originals *recovery.Store, mine, anns string) {
	t.Helper()
	t.Cleanup(func() {
		assert.NoError(t, l.Close())
		assert.NoError(t, keys.Close())
		assert.NoError(t, originals.Close())
	})
	ctx := t.Context()
	readsLedger(ctx, t, l)

	key := func(b string) [32]byte { return [32]byte([]byte(strings.Repeat(b, 32))) }
	a := key("a")
	ids, err := l.Put(ctx, contextgc.Entry{Text: "again", Key: a[:], Segment: contextgc.Segment{Project: "shop"}}, contextgc.Entry{Text: "new", Segment: contextgc.Segment{Project: "shop"}})
	require.NoError(t, err)
	assert.Equal(t, "s1", ids[0])
	_, text, err := l.Get(ctx, contextgc.Reference{Project: "shop", ID: ids[1]})
	require.NoError(t, err)
	assert.Equal(t, "new", text)

	all, err := keys.List(ctx)
	require.NoError(t, err)
	require.Len(t, all, 2)
	assert.Equal(t, store.Key{ID: "k1", Subject: "ann", Scopes: []string{"serve", "proxy"}, Created: recordedAt(1), Note: "laptop"}, all[0])
	assert.Equal(t, []time.Time{recordedAt(2), recordedAt(20), recordedAt(3)}, []time.Time{all[1].Created, all[1].Expires, all[1].Revoked})
	found, ok, err := keys.Lookup(ctx, sha256.Sum256([]byte("secret of k2")))
	require.NoError(t, err)
	assert.True(t, ok && found.ID == "k2")
	require.NoError(t, keys.Revoke(ctx, "k1"))

	original, err := originals.Get(ctx, mine)
	require.NoError(t, err)
	assert.Equal(t, "one\n", original.String())
	original, err = originals.Get(agent.WithSubject(ctx, "ann"), anns)
	require.NoError(t, err)
	assert.Equal(t, "two\n", original.String())
}

func readsLedger(ctx context.Context, t *testing.T, l *store.Ledger) {
	t.Helper()
	segments, err := l.List(ctx, contextgc.Filter{Project: "shop"})
	require.NoError(t, err)
	assert.Equal(t, []string{"s1", "s2", "own", "s4"}, ids(segments))
	first := segments[0]
	assert.Equal(t, []any{[]string{"go", "main"}, "s4", contextgc.Stashed, recordedAt(1)}, []any{first.Tags, first.SupersededBy, first.Tier, first.Created})
	assert.Equal(t, []any{true, 3, recordedAt(5)}, []any{segments[2].Old, segments[2].References, segments[2].Touched})
	assert.True(t, segments[1].Pinned)
	hits, total, err := l.Search(ctx, contextgc.Query{Project: "shop", Text: "größe cart"})
	require.NoError(t, err)
	require.Equal(t, 1, total)
	assert.Equal(t, "FAIL cart: Größe 3", hits[0].Excerpt)

	list, last, pinned, err := l.Clearings(ctx, 0)
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.Equal(t, []any{"[cleared: s1]", 9, true, int64(2), 1}, []any{list[0].Stub, list[0].Tokens, list[1].Free, last, len(pinned)})
	chain, err := l.Chain(ctx, [][32]byte{{2}})
	require.NoError(t, err)
	assert.Equal(t, list, chain)
	heads, err := l.Heads(ctx, [][32]byte{{11}, {14}, {15}})
	require.NoError(t, err)
	assert.Equal(t, map[[32]byte][32]byte{{11}: {1}, {14}: {2}}, heads)
	cleared, used, err := l.Session(ctx, "s1")
	require.NoError(t, err)
	require.Len(t, cleared, 2)
	assert.Equal(t, []any{"it pays", 4, recordedAt(3)}, []any{cleared[0].Why, cleared[0].Pays, cleared[0].At})
	assert.Equal(t, contextgc.Usage{Session: "s1", API: "anthropic", Model: "m2", Calls: 2, Input: 11, Read: 22, Written: 33, Output: 44, Before: 110, After: 85, Cleared: 3, Updated: recordedAt(5)}, used)
	marks, err := l.Marks(ctx, contextgc.Compacted)
	require.NoError(t, err)
	assert.Equal(t, []contextgc.Mark{{Session: "s2", Project: "shop", Kind: contextgc.Compacted, Detail: "auto"}}, marks)
}
