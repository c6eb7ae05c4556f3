package store_test

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// A request waits for the database while results are cleared. It takes as many round trips for sixty results as
// for three.
func TestRoundTripsDoNotGrow(t *testing.T) {
	server := storetest.Start(t)
	name, trips := server.Counted(t, server.Database(t))
	db, err := store.Open(store.Database{Name: name, Patience: time.Minute})
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	kept := store.LedgerIn(db, time.Now)
	clear := func(place byte, results int) int64 {
		before := trips()
		var entries []contextgc.Entry
		var list []contextgc.Clearing
		var texts []recovery.Entry
		for i := range results {
			key, text := [32]byte{place, byte(i)}, fmt.Sprint("text ", place, i)
			texts = append(texts, recovery.NewEntry(sha256.Sum256([]byte(text)), name, "p", 1))
			entries = append(entries, contextgc.Entry{Text: text, Key: key[:], Segment: contextgc.Segment{Project: "p", Session: "s"}})
			list = append(list, contextgc.Clearing{Item: key, Stub: "[cleared]"})
		}
		ids, err := kept.Put(t.Context(), entries...)
		require.NoError(t, err)
		require.Len(t, ids, results)
		holds, err := kept.Clear(t.Context(), contextgc.Place{ID: [32]byte{place}, Marks: [][32]byte{{place}}}, list)
		require.NoError(t, err)
		require.Len(t, holds, results)
		shown, err := store.Shown{DB: db}.Claim(t.Context(), texts...)
		require.NoError(t, err)
		require.Len(t, shown, results)
		return trips() - before
	}
	clear(1, 1) // it connects
	few, many := clear(2, 3), clear(3, 60)
	assert.Less(t, many, few+10, "a connection that was idle for a second is tried first")
	t.Log(few, "and", many, "round trips")

	before := trips()
	_, err = kept.Clear(t.Context(), contextgc.Place{ID: [32]byte{4}, Marks: [][32]byte{{4}}}, nil)
	require.NoError(t, err)
	assert.LessOrEqual(t, trips()-before, int64(2), "nearly every request waits until it is stored that nothing is cleared: one trip, and one for an idle connection")
}
