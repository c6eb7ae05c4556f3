package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	recoverypg "github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/postgres"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	ledger "github.com/mcp-pruner/mcp-pruner/tools/contextgc/postgres"
	"github.com/mcp-pruner/mcp-pruner/tools/postgres"
	"github.com/mcp-pruner/mcp-pruner/tools/postgres/postgrestest"
)

// TestClocksThatDiffer: a replica whose clock is an hour off writes times of the database's clock, removes nothing too early, and
// knows how long ago something was.
func TestClocksThatDiffer(t *testing.T) {
	name := postgrestest.Start(t).Database(t)
	for i, off := range []time.Duration{0, time.Hour, -time.Hour} {
		db, err := postgres.Open(postgres.Settings{Name: name, Patience: time.Minute + time.Duration(i)}) // a pool of its own
		require.NoError(t, err)
		here := func() time.Time { return time.Now().Add(off) }
		postgres.SetClock(db, here)
		require.NoError(t, db.Check(t.Context()))
		const bound = float64(30 * time.Minute)
		assert.InDelta(t, 0, time.Since(db.Now()), bound, off)

		store := ledger.In(db, db.Now)
		_, err = store.Put(t.Context(), contextgc.Entry{Text: off.String(), Segment: contextgc.Segment{Project: "p", Session: "s"}})
		require.NoError(t, err)
		require.NoError(t, store.AddUsage(t.Context(), contextgc.Usage{Session: "s"}))
		last, err := store.LastUse(t.Context(), "s")
		require.NoError(t, err)
		assert.InDelta(t, 0, here().Sub(last), bound, off)
		removed, err := store.Clean(t.Context(), contextgc.Limits{Age: 45 * time.Minute})
		require.NoError(t, err)
		assert.Zero(t, removed, off)
		size, err := store.Size(t.Context())
		require.NoError(t, err)
		assert.InDelta(t, 0, time.Since(size.Oldest), bound, off)

		originals, err := recoverypg.In(db, recovery.Settings{TTL: 45 * time.Minute})
		require.NoError(t, err)
		id, err := originals.PutShort(t.Context(), "an original")
		require.NoError(t, err)
		_, err = originals.Get(t.Context(), id)
		require.NoError(t, err)
		require.NoError(t, store.Close())
	}
}
