package store_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
)

// TestAnnouncements: what a replica announces reaches the one that can act on it before it is acknowledged, and the replicas share
// their keys.
func TestAnnouncements(t *testing.T) { announce(t, storetest.Start(t).Database(t)) }

// TestAnnouncementsBehindPgbouncer: the same in transaction mode, in which schemas are migrated, too.
func TestAnnouncementsBehindPgbouncer(t *testing.T) {
	server := storetest.Start(t)
	name := server.Pooled(t)(server.Empty(t))
	_, to, err := store.Migrate(t.Context(), store.Database{Name: name})
	require.NoError(t, err)
	assert.Equal(t, store.Latest(), to)
	announce(t, name)
}

func announce(t *testing.T, name string) {
	t.Helper()
	db, err := store.Open(store.Database{Name: name})
	require.NoError(t, err)
	defer func() { assert.NoError(t, db.Close()) }()
	ctx, stop := context.WithCancel(t.Context())
	var replicas sync.WaitGroup
	var mu sync.Mutex
	got := map[string]int{}
	for _, mine := range []string{"one", "two", "three"} {
		replicas.Go(func() {
			db.Hear(ctx, func(topic string) bool { return topic != "nobody's" }, func(topic string, payload []byte) bool {
				mu.Lock()
				defer mu.Unlock()
				got[topic]++
				return topic == mine
			})
		})
	}
	for _, to := range []string{"two", "one", "three"} {
		heard, err := db.Announce(t.Context(), to, []byte(to))
		require.NoError(t, err)
		assert.True(t, heard, to)
	}
	for topic, size := range map[string]int{"nobody's": 1, "short": 1, "long": 5 << 10} {
		heard, err := db.Announce(t.Context(), topic, make([]byte, size))
		require.NoError(t, err)
		assert.False(t, heard)
	}
	_, err = db.Announce(t.Context(), "huge", make([]byte, 2<<20))
	assert.ErrorContains(t, err, "at most 1048576 bytes")
	stop()
	replicas.Wait()
	assert.Zero(t, got["nobody's"], "is not even read")
	assert.Greater(t, got["short"], 3, "waits for a replica that can act on it")
	assert.LessOrEqual(t, got["long"], 3, "each replica looks once")
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
