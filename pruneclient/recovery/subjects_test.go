package recovery_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	recoverypg "github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/postgres"
	"github.com/mcp-pruner/mcp-pruner/tools/postgres"
	"github.com/mcp-pruner/mcp-pruner/tools/postgres/postgrestest"
	"github.com/mcp-pruner/mcp-pruner/tools/subject"
)

// An original belongs to its subject: every other one is answered as if it had never been, and fills up only its own limit.
func TestSubjectsInPostgres(t *testing.T) {
	name := postgrestest.Start(t).Database(t)
	open := func() *recovery.Store {
		db, err := postgres.Open(postgres.Settings{Name: name})
		require.NoError(t, err)
		store, err := recoverypg.In(db, recovery.Settings{MaxItems: 2, TTL: time.Minute})
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, store.Close()) })
		return store
	}
	here, there := open(), open()
	ann, bob := subject.With(t.Context(), "ann"), subject.With(t.Context(), "bob")
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
	server := postgrestest.Start(t)
	db, err := postgres.Open(postgres.Settings{Name: server.Database(t)})
	require.NoError(t, err)
	store, err := recoverypg.In(db, recovery.Settings{Now: time.Now})
	require.NoError(t, err)
	defer func() { assert.NoError(t, store.Close()) }()
	id := put(t, store, "before")
	for _, mode := range []string{"fast", "immediate"} {
		server.Stop(t, mode)
		_, err = store.Put(t.Context(), "during")
		require.ErrorContains(t, err, "store the original")
		_, err = store.Put(t.Context(), "during")
		require.ErrorIs(t, err, postgres.ErrUnavailable, "it is not asked again at once")
		_, err = store.Get(t.Context(), id)
		require.ErrorContains(t, err, "read the original")
		require.Error(t, db.Failing())
		server.Start(t)
		require.Eventually(t, func() bool { return db.Check(t.Context()) == nil }, time.Minute, 10*time.Millisecond)
		require.NoError(t, db.Failing())
		requireText(t, store, id, "before")
		put(t, store, "after "+mode)
	}
}
