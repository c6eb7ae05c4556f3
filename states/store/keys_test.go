package store_test

import (
	"crypto/sha256"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
)

// TestKeysInAFile, TestKeysInADatabase and TestKeysBehindPgbouncer are what every implementation passes. open opens one store again and again, as
// other processes would.
func TestKeysInAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "keys.db")
	keysPass(t, func(t *testing.T) *store.Keys {
		kept, err := store.OpenKeys(path, func(m string) { t.Error(m) }, time.Now)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, kept.Close()) })
		return kept
	})
}

func TestKeysInADatabase(t *testing.T) { inDatabase(t, storetest.Start(t).Database(t)) }

func TestKeysBehindPgbouncer(t *testing.T) {
	server := storetest.Start(t)
	inDatabase(t, server.Pooled(t)(server.Database(t)))
}

func inDatabase(t *testing.T, name string) {
	t.Helper()
	keysPass(t, func(t *testing.T) *store.Keys {
		db, err := store.Open(store.Database{Name: name, Patience: time.Minute})
		require.NoError(t, err)
		kept := store.KeysIn(db)
		t.Cleanup(func() { assert.NoError(t, kept.Close()) })
		return kept
	})
}

func keysPass(t *testing.T, open func(t *testing.T) *store.Keys) {
	ctx := t.Context()
	here, there := open(t), open(t)
	hash := sha256.Sum256([]byte("one"))
	expires := time.Date(2999, 1, 2, 3, 4, 5, 6000, time.UTC)
	one := store.Key{ID: "k1", Subject: "ann", Scopes: []string{"gateway", "proxy"}, Expires: expires, Note: "for CI's \"runner\""}
	require.NoError(t, here.Add(ctx, one, hash))

	_, ok, err := there.Lookup(ctx, sha256.Sum256([]byte("another")))
	require.NoError(t, err)
	assert.False(t, ok)
	got, ok, err := there.Lookup(ctx, hash)
	require.NoError(t, err)
	require.True(t, ok)
	assert.WithinDuration(t, time.Now(), got.Created, time.Minute)
	one.Created = got.Created
	assert.Equal(t, one, got)
	assert.True(t, got.Valid(time.Now()))
	assert.False(t, got.Valid(expires))

	require.ErrorIs(t, there.Add(ctx, store.Key{ID: "k1", Subject: "bob"}, sha256.Sum256([]byte("two"))), store.ErrKeyTaken)
	require.ErrorIs(t, there.Add(ctx, store.Key{ID: "k2", Subject: "bob"}, hash), store.ErrKeyTaken)
	require.NoError(t, there.Add(ctx, store.Key{ID: "k3", Subject: "", Created: time.Now().Add(time.Hour)}, sha256.Sum256([]byte("two"))))

	require.ErrorIs(t, here.Revoke(ctx, "k2"), store.ErrKeyUnknown)
	require.NoError(t, there.Revoke(ctx, "k1"))
	first, _, err := here.Lookup(ctx, hash)
	require.NoError(t, err)
	assert.False(t, first.Valid(time.Now()), "the other replica knows at once")
	require.NoError(t, here.Revoke(ctx, "k1"))
	again, _, err := here.Lookup(ctx, hash)
	require.NoError(t, err)
	assert.Equal(t, first, again)

	list, err := here.List(ctx)
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.Equal(t, []string{"k1", "k3"}, []string{list[0].ID, list[1].ID})
	assert.Empty(t, list[1].Scopes)

	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			_, ok, err := there.Lookup(ctx, hash)
			assert.True(t, ok && err == nil)
		})
	}
	all.Wait()
}
