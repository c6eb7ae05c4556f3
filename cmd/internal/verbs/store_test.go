package verbs

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// runStore runs the verb with MCP_PRUNER_STORE.
func runStore(t *testing.T, store string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return runVerb(t, storeCommand, []string{"MCP_PRUNER_STORE=" + store}, "", args...)
}

// requireStore is run of what succeeds. It returns what was printed.
func requireStore(t *testing.T, store string, args ...string) string {
	t.Helper()
	code, stdout, stderr := runStore(t, store, args...)
	require.Zero(t, code, "%v: %s", args, stderr)
	return stdout
}

func ledgerIn(t *testing.T, name string) *store.Ledger {
	t.Helper()
	db, err := store.Open(store.Database{Name: name})
	require.NoError(t, err)
	store := store.LedgerIn(db, time.Now)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	return store
}

// TestVersions: an older schema and a newer one are refused with what to do; several that migrate at once do it once.
func TestStoreVersions(t *testing.T) {
	server := storetest.Start(t)
	name := server.Empty(t)
	code, _, stderr := runStore(t, name, "status")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, `run "mcp-pruner store migrate"`)
	code, _, stderr = runStore(t, name, "forget", "--project", "p")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, `run "mcp-pruner store migrate"`)

	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			_, to, err := store.Migrate(t.Context(), store.Database{Name: name})
			assert.NoError(t, err)
			assert.Equal(t, store.Latest(), to)
		})
	}
	all.Wait()
	latest := store.Latest()
	assert.Equal(t, fmt.Sprintf("The schema has version %d already.\n", latest), requireStore(t, name, "migrate"))
	assert.Contains(t, requireStore(t, name, "status"), fmt.Sprintf("schema version %d of %d", latest, latest))

	server.SQL(t, name, "INSERT INTO mcp_pruner.schema (version) VALUES (99)")
	for _, args := range [][]string{{"status"}, {"migrate"}, {"forget", "--project", "p"}} {
		code, _, stderr = runStore(t, name, args...)
		assert.Equal(t, 1, code)
		assert.Contains(t, stderr, "the database's schema has version 99")
		assert.Contains(t, stderr, "use a newer mcp-pruner")
	}

	server.SQL(t, name, fmt.Sprintf("UPDATE mcp_pruner.schema SET oldest = %d WHERE version = 99", latest)) // a later migration that changes nothing for this program
	assert.Contains(t, requireStore(t, name, "status"), fmt.Sprintf("schema version 99 of %d", latest))
	assert.Equal(t, "The schema has version 99 already.\n", requireStore(t, name, "migrate"))
	requireStore(t, name, "forget", "--project", "p")
	later, err := assemble.OpenDatabase(assemble.Place{Database: store.Database{Name: name}}, nil)
	require.NoError(t, err, "replicas are replaced one after the other, and back")
	require.NoError(t, later.Close())

	server.SQL(t, name, fmt.Sprintf("DELETE FROM mcp_pruner.schema WHERE version >= %d", latest))
	for _, args := range [][]string{{"status"}, {"forget", "--project", "p"}} {
		code, _, stderr = runStore(t, name, args...)
		assert.Equal(t, 1, code)
		assert.Contains(t, stderr, fmt.Sprintf(`the database's schema has version %d, and this program needs %d: run "mcp-pruner store migrate"`, latest-1, latest))
	}
	_, err = assemble.OpenDatabase(assemble.Place{Database: store.Database{Name: name}}, nil)
	var version *store.VersionError
	require.ErrorAs(t, err, &version, "a server does not start")
}

// A database whose texts lie in a bucket, which an earlier version could use, stays as it is and says the way out.
func TestABucketsTextsAreRefused(t *testing.T) {
	server := storetest.Start(t)
	name := server.Database(t)
	server.SQL(t, name, `DELETE FROM mcp_pruner.schema WHERE version >= 5; ALTER TABLE mcp_pruner.texts ADD COLUMN object text;
		CREATE TABLE mcp_pruner.dropped (object text PRIMARY KEY, due timestamptz NOT NULL);
		INSERT INTO mcp_pruner.texts (subject, hash, bytes, body, object) VALUES ('ann', 'h', 9, 'begin', 'an-object')`)

	code, _, stderr := runStore(t, name, "migrate")

	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "bucket")
	assert.Contains(t, stderr, "run the earlier version without MCP_PRUNER_STORE_BUCKET until they have expired")
	_, _, stderr = runStore(t, name, "status")
	assert.Contains(t, stderr, "version 4")

	server.SQL(t, name, `DELETE FROM mcp_pruner.texts`)
	assert.Equal(t, "The schema had version 4 and has version 6 now.\n", requireStore(t, name, "migrate"))
}

// A password is neither taken from the command line nor printed.
func TestStorePasswords(t *testing.T) {
	code, _, stderr := runStore(t, "", "status", "--store", "postgres://u:geheim@127.0.0.1:1/d")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "PGPASSFILE")
	assert.NotContains(t, stderr, "geheim")
	code, _, stderr = runStore(t, "postgres://u:geheim@127.0.0.1:1/d", "status")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "127.0.0.1:1")
	assert.NotContains(t, stderr, "geheim")
	code, _, stderr = runStore(t, "", "status")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "MCP_PRUNER_STORE")
}

// TestForgetAndRestore: a backup of a ledger is whole, and what is forgotten is gone.
func TestForgetAndRestore(t *testing.T) {
	server := storetest.Start(t)
	name := server.Database(t)
	to := ledgerIn(t, name)
	for _, text := range []string{"one", "two", "a\x00b\xff\r\n"} {
		_, err := to.Put(t.Context(), contextgc.Entry{Text: text, Segment: contextgc.Segment{Project: "p", Session: "s", Path: "a\x00.go", Tags: []string{"x"}}})
		require.NoError(t, err)
	}
	ann := agent.WithSubject(t.Context(), "ann")
	_, err := to.Put(ann, contextgc.Entry{Text: "ann's", Segment: contextgc.Segment{Project: "p"}})
	require.NoError(t, err)
	db, err := store.Open(store.Database{Name: name})
	require.NoError(t, err)
	originals, err := store.OriginalsIn(db, recovery.Settings{})
	require.NoError(t, err)
	defer func() { assert.NoError(t, originals.Close()) }()
	id, err := originals.PutShort(ann, "original")
	require.NoError(t, err)

	dump := server.Tool("pg_dump", "-n", "mcp_pruner", "-d", name)
	sql, err := dump.Output()
	require.NoError(t, err)
	again := server.Empty(t)
	restore := server.Tool("psql", "-q", "-v", "ON_ERROR_STOP=1", "-d", again)
	restore.Stdin = bytes.NewReader(sql)
	out, err := restore.CombinedOutput()
	require.NoError(t, err, "%s", out)

	assert.Equal(t, "1 segment was removed.\n", requireStore(t, name, "forget", "--subject", "ann"))
	_, err = originals.Get(ann, id)
	require.Error(t, err)
	assert.Equal(t, "3 segments were removed.\n", requireStore(t, name, "forget", "--project", "p"))
	size, err := to.Size(t.Context())
	require.NoError(t, err)
	assert.Zero(t, size.Bytes)

	_, text, err := ledgerIn(t, again).Get(ann, contextgc.Reference{Project: "p", ID: "s4"})
	require.NoError(t, err)
	assert.Equal(t, "ann's", text, "the backup has it")
}

// The servers behind a gateway do not get what opens its database.
func TestUpstreamsCannotOpenTheDatabase(t *testing.T) {
	env := []string{"A=1", "PGPASSWORD=secret", "MCP_PRUNER_STORE=postgres://db/x"}
	assert.Equal(t, []string{"A=1"}, upstreamEnv(env))
	assert.Equal(t, []string{"A=1", "PGPASSWORD=secret"}, upstreamEnv(env[:2]), "without a database it is the user's")
}
