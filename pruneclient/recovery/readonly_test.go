package recovery_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
)

// TestDatabaseReadOnly: a database that became read-only, as after a failover, stores nothing and says so; what it has is
// recovered without a pause after a refused write, and it heals by itself.
func TestDatabaseReadOnly(t *testing.T) {
	server := storetest.Start(t)
	name := server.Database(t)
	base, _, _ := strings.Cut(strings.TrimPrefix(name, "postgres:///"), "?")
	readOnly := func(mode string) {
		server.SQL(t, server.Name("postgres"), fmt.Sprintf(`ALTER DATABASE %[1]s SET default_transaction_read_only = %[2]s`, base, mode))
		server.SQL(t, server.Name("postgres"), fmt.Sprintf(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '%s'`, base))
	}
	db, err := store.Open(store.Database{Name: name})
	require.NoError(t, err)
	kept, err := store.OriginalsIn(db, recovery.Settings{Now: time.Now})
	require.NoError(t, err)
	defer func() { assert.NoError(t, kept.Close()) }()
	id := put(t, kept, "before")
	readOnly("on")
	_, err = kept.Put(t.Context(), "during")
	require.ErrorContains(t, err, "read-only")
	require.Error(t, db.Failing())
	for range 3 {
		text, err := kept.Get(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, "before", text.String())
		_, err = kept.Put(t.Context(), "still")
		require.ErrorContains(t, err, "read-only")
		require.NotErrorIs(t, err, store.ErrUnavailable)
		require.Error(t, db.Failing())
	}
	readOnly("off")
	require.Eventually(t, func() bool {
		_, err := kept.Put(t.Context(), "after")
		return err == nil
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, db.Failing())
}
