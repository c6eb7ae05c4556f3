package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// TestClocksThatDiffer: a replica whose clock is an hour off writes times of the database's clock, removes nothing too early, and
// knows how long ago something was.
func TestClocksThatDiffer(t *testing.T) {
	name := storetest.Start(t).Database(t)
	for i, off := range []time.Duration{0, time.Hour, -time.Hour} {
		db, err := store.Open(store.Database{Name: name, Patience: time.Minute + time.Duration(i)}) // a pool of its own
		require.NoError(t, err)
		here := func() time.Time { return time.Now().Add(off) }
		store.SetClock(db, here)
		require.NoError(t, db.Check(t.Context()))
		const bound = float64(30 * time.Minute)
		assert.InDelta(t, 0, time.Since(db.Now()), bound, off)

		kept := store.LedgerIn(db, db.Now)
		_, err = kept.Put(t.Context(), contextgc.Entry{Text: off.String(), Segment: contextgc.Segment{Project: "p", Session: "s"}})
		require.NoError(t, err)
		require.NoError(t, kept.AddUsage(t.Context(), contextgc.Usage{Session: "s"}))
		last, err := kept.LastUse(t.Context(), "s")
		require.NoError(t, err)
		assert.InDelta(t, 0, here().Sub(last), bound, off)
		removed, err := kept.Clean(t.Context(), contextgc.Limits{Age: 45 * time.Minute})
		require.NoError(t, err)
		assert.Zero(t, removed, off)
		store.SetClock(db, func() time.Time { return here().Add(2 * time.Hour) }) // set since the connection
		removed, err = kept.Clean(t.Context(), contextgc.Limits{Age: 45 * time.Minute})
		require.NoError(t, err)
		assert.Zero(t, removed, off)
		store.SetClock(db, here)
		require.NoError(t, db.Check(t.Context()))
		size, err := kept.Size(t.Context())
		require.NoError(t, err)
		assert.InDelta(t, 0, time.Since(size.Oldest), bound, off)

		originals, err := store.OriginalsIn(db, recovery.Settings{TTL: 45 * time.Minute})
		require.NoError(t, err)
		id, err := originals.PutShort(t.Context(), "an original")
		require.NoError(t, err)
		_, err = originals.Get(t.Context(), id)
		require.NoError(t, err)
		require.NoError(t, kept.Close())
	}
}
