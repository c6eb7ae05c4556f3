package recovery_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// An original belongs to its subject: every other one is answered as if it had never been, and fills up only its own limit.
func TestSubjectsInPostgres(t *testing.T) {
	name := storetest.Start(t).Database(t)
	open := func() *recovery.Store {
		db, err := store.Open(store.Database{Name: name})
		require.NoError(t, err)
		kept, err := store.OriginalsIn(db, recovery.Settings{MaxItems: 2, TTL: time.Minute})
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, kept.Close()) })
		return kept
	}
	here, there := open(), open()
	ann, bob := agent.WithSubject(t.Context(), "ann"), agent.WithSubject(t.Context(), "bob")
	id, err := here.PutShort(ann, "a secret of ann")
	require.NoError(t, err)
	for range 5 {
		_, err = here.Put(bob, "a secret of ann")
		require.NoError(t, err)
	}
	got, err := there.Get(ann, id)
	require.NoError(t, err)
	assert.Equal(t, "a secret of ann", got.String())
	_, theirs := there.Get(bob, id)
	_, nobodys := there.Get(bob, "prn_00000000")
	_, owners := there.Get(t.Context(), id)
	for _, err := range []error{theirs, nobodys, owners} {
		var missing *recovery.NotFound
		require.ErrorAs(t, err, &missing)
	}
	assert.Equal(t, "prune_id_not_found: "+id, theirs.Error())
	for _, hostile := range []string{"", "\x00", "\xff", "prn_' OR 1=1 --", "%"} {
		_, err := there.Get(bob, hostile)
		var missing *recovery.NotFound
		require.ErrorAs(t, err, &missing, "%q", hostile)
	}
}

// TestDatabaseAway: while the database is away nothing is stored and nothing is found, both are said, and it heals by itself.
func TestDatabaseAway(t *testing.T) {
	server := storetest.Start(t)
	db, err := store.Open(store.Database{Name: server.Database(t)})
	require.NoError(t, err)
	kept, err := store.OriginalsIn(db, recovery.Settings{Now: time.Now})
	require.NoError(t, err)
	defer func() { assert.NoError(t, kept.Close()) }()
	id := put(t, kept, "before")
	for _, mode := range []string{"fast", "immediate"} {
		server.Stop(t, mode)
		_, err = kept.Put(t.Context(), "during")
		require.ErrorContains(t, err, "store the original")
		_, err = kept.Put(t.Context(), "during")
		require.ErrorIs(t, err, store.ErrUnavailable, "it is not asked again at once")
		_, err = kept.Get(t.Context(), id)
		require.ErrorContains(t, err, "read the original")
		require.Error(t, db.Failing())
		server.Start(t)
		require.Eventually(t, func() bool { return db.Check(t.Context()) == nil }, time.Minute, 10*time.Millisecond)
		require.NoError(t, db.Failing())
		requireText(t, kept, id, "before")
		put(t, kept, "after "+mode)
	}
}
