package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// holding returns a connection that holds what a statement locks until its end.
func holding(t *testing.T, name, statement string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), name)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	_, err = conn.Exec(t.Context(), "BEGIN; "+statement)
	require.NoError(t, err)
	return conn
}

// fillAnn gives ann so many ids of one text, and then ten texts of 100 bytes.
const fillAnn = `INSERT INTO mcp_pruner.texts SELECT 'ann', sha256(i::text::bytea),
		CASE i WHEN 0 THEN 4 ELSE 100 END, i::text::bytea FROM generate_series(0, 10) i;
	INSERT INTO mcp_pruner.originals (subject, id, hash, expires_at)
		SELECT 'ann', 'prn_' || i, sha256(GREATEST(i, 0)::text::bytea), now() + interval '1 day' FROM generate_series(1 - %d, 10) i`

// TestRoomCostsTheSame: ids of one text free no bytes, yet a subject with many has room after as few statements as one with few, and
// loses no more of its texts than that one and a slack need.
func TestRoomCostsTheSame(t *testing.T) {
	server := storetest.Start(t)
	cost := func(ids int) int64 {
		plain := server.Database(t)
		server.SQL(t, plain, fmt.Sprintf(fillAnn, ids))
		name, trips := server.Counted(t, plain)
		db, err := store.Open(store.Database{Name: name, Patience: time.Minute})
		require.NoError(t, err)
		kept, err := store.OriginalsIn(db, recovery.Settings{MaxBytes: 1004, Now: time.Now})
		require.NoError(t, err)
		require.NoError(t, db.Check(t.Context()))
		before := trips()
		_, err = kept.Put(agent.WithSubject(t.Context(), "ann"), strings.Repeat("x", 100))
		require.NoError(t, err)
		took := trips() - before
		got, err := kept.Stats()
		require.NoError(t, err)
		assert.Equal(t, recovery.Stats{Items: 9, Texts: 9, Bytes: 900, Evicted: int64(ids) + 2}, got)
		require.NoError(t, kept.Close())
		return took
	}
	assert.InDelta(t, cost(5), cost(5000), 3, "an idle connection is tried first")
	assert.Less(t, cost(60_000), int64(30), "what is dropped at once is bounded")
}

// TestRoomIsOnesOwnMatter: while puts of a subject wait for room others get their connections, and the room is made although the
// caller that began it is gone.
func TestRoomIsOnesOwnMatter(t *testing.T) {
	server := storetest.Start(t)
	name := server.Database(t)
	server.SQL(t, name, fmt.Sprintf(fillAnn, 20))
	db, err := store.Open(store.Database{Name: name + "&pool_max_conns=2", Patience: time.Minute})
	require.NoError(t, err)
	kept, err := store.OriginalsIn(db, recovery.Settings{MaxBytes: 1000})
	require.NoError(t, err)
	defer func() { assert.NoError(t, kept.Close()) }()
	lock := holding(t, name, `SELECT pg_advisory_xact_lock(hashtextextended('originals of ann', 0))`)
	ann, cancel := context.WithCancel(agent.WithSubject(t.Context(), "ann"))
	results := make(chan error)
	for i := range 8 {
		go func() {
			_, err := kept.Put(ann, fmt.Sprint("text ", i))
			results <- err
		}()
	}
	asked := func(question string) (n int) {
		require.NoError(t, lock.QueryRow(t.Context(), question).Scan(&n))
		return n
	}
	require.Eventually(t, func() bool {
		return asked(`SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`) > 0
	}, time.Minute, time.Millisecond)
	bob := agent.WithSubject(t.Context(), "bob")
	for range 20 {
		id, err := kept.Put(bob, "bob's")
		require.NoError(t, err)
		_, err = kept.Get(bob, id)
		require.NoError(t, err)
	}
	cancel()
	for range 8 {
		require.ErrorIs(t, <-results, context.Canceled)
	}
	_, err = lock.Exec(t.Context(), "COMMIT")
	require.NoError(t, err)
	require.Eventually(t, func() bool { return asked(`SELECT COUNT(*) FROM mcp_pruner.originals WHERE subject = 'ann'`) == 9 }, time.Minute, time.Millisecond,
		"nine texts of 100 bytes fit, with a slack, and nobody waited for the id of a new one")
}

// TestSlowIsNotAway: one statement that takes too long says nothing of the others, as long as the database answers.
func TestSlowIsNotAway(t *testing.T) {
	name := storetest.Start(t).Database(t)
	db, err := store.Open(store.Database{Name: name, Patience: 100 * time.Millisecond, Rest: time.Minute})
	require.NoError(t, err)
	keys := store.KeysIn(db)
	defer func() { assert.NoError(t, keys.Close()) }()
	require.Eventually(t, func() bool { return db.Check(t.Context()) == nil }, time.Minute, time.Millisecond)
	holding(t, name, `LOCK TABLE mcp_pruner.api_keys`)
	_, _, err = keys.Lookup(t.Context(), store.Hash{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, db.Failing())
}
