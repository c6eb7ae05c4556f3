package store_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
)

// TestAnnouncements: what a replica announces reaches the one that can act on it before it is acknowledged, with LISTEN and
// without, and the replicas share their keys.
func TestAnnouncements(t *testing.T) {
	name := storetest.Start(t).Database(t)
	announce(t, name, name)
}

// TestAnnouncementsBehindPgbouncer: the same in transaction mode, which has no LISTEN: that goes past it.
func TestAnnouncementsBehindPgbouncer(t *testing.T) {
	server := storetest.Start(t)
	through := server.Pooled(t)
	name := server.Database(t)
	announce(t, through(name), name)

	db, err := store.Open(store.Database{Name: through(name), Direct: name + "&application_name=direct"})
	require.NoError(t, err)
	defer func() { assert.NoError(t, db.Close()) }()
	ctx, stop := context.WithCancel(t.Context())
	var hearing sync.WaitGroup
	hearing.Go(func() { db.Hear(ctx, func(string, []byte) bool { return false }) })
	require.Eventually(t, func() bool {
		var listening bool
		conn, err := pgx.Connect(t.Context(), name)
		require.NoError(t, err)
		defer func() { _ = conn.Close(t.Context()) }()
		require.NoError(t, conn.QueryRow(t.Context(), `SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE application_name = 'direct' AND query LIKE 'LISTEN%')`).Scan(&listening))
		return listening
	}, time.Minute, 10*time.Millisecond)
	stop()
	hearing.Wait()
}

// TestMigratePastPgbouncer: a migration uses the direct name alone.
func TestMigratePastPgbouncer(t *testing.T) {
	server := storetest.Start(t)
	empty := server.Empty(t)
	_, to, err := store.Migrate(t.Context(), store.Database{Name: "postgres:///nowhere?host=" + t.TempDir(), Direct: empty})
	require.NoError(t, err)
	assert.Equal(t, store.Latest(), to)
}

func announce(t *testing.T, name, direct string) {
	t.Helper()
	for kind, direct := range map[string]string{"listening": direct, "polling": ""} {
		t.Run(kind, func(t *testing.T) {
			db, err := store.Open(store.Database{Name: name, Direct: direct})
			require.NoError(t, err)
			defer func() { assert.NoError(t, db.Close()) }()
			ctx, stop := context.WithCancel(t.Context())
			var replicas sync.WaitGroup
			var mu sync.Mutex
			got := map[string]int{}
			for _, mine := range []string{"one", "two", "three"} {
				replicas.Go(func() {
					db.Hear(ctx, func(topic string, payload []byte) bool {
						mu.Lock()
						defer mu.Unlock()
						if topic != "cancel" || string(payload) != mine {
							return false
						}
						got[mine]++
						return true
					})
				})
			}
			for _, to := range []string{"two", "one", "three"} {
				heard, err := db.Announce(t.Context(), "cancel", []byte(to))
				require.NoError(t, err)
				assert.True(t, heard, to)
			}
			heard, err := db.Announce(t.Context(), "cancel", []byte("nobody's"))
			require.NoError(t, err)
			assert.False(t, heard)
			stop()
			replicas.Wait()
			assert.Len(t, got, 3)
		})
	}
	a, err := store.Open(store.Database{Name: name})
	require.NoError(t, err)
	defer func() { assert.NoError(t, a.Close()) }()
	first, err := a.SharedKey(t.Context(), "sessions")
	require.NoError(t, err)
	again, err := a.SharedKey(t.Context(), "sessions")
	require.NoError(t, err)
	other, err := a.SharedKey(t.Context(), "other")
	require.NoError(t, err)
	assert.Equal(t, first, again)
	assert.NotEqual(t, first, other)
	assert.Len(t, first, 32)
}
