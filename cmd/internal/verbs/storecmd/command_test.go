package storecmd_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble/stores"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/auth/keys"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/storecmd"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	recoverypg "github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/postgres"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	ledgerpg "github.com/mcp-pruner/mcp-pruner/tools/contextgc/postgres"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/sqlite"
	"github.com/mcp-pruner/mcp-pruner/tools/postgres"
	"github.com/mcp-pruner/mcp-pruner/tools/postgres/postgrestest"
	"github.com/mcp-pruner/mcp-pruner/tools/subject"
)

// run runs the verb with MCP_PRUNER_STORE.
func run(t *testing.T, store string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return runWith(t, []string{"MCP_PRUNER_STORE=" + store}, args...)
}

func runWith(t *testing.T, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	p := command.Process{Args: args, Env: env, Stdout: &out, Stderr: &errs}
	code = command.Execute(t.Context(), storecmd.Command(p), p)
	return code, out.String(), errs.String()
}

// requireRun is run of what succeeds. It returns what was printed.
func requireRun(t *testing.T, store string, args ...string) string {
	t.Helper()
	code, stdout, stderr := run(t, store, args...)
	require.Zero(t, code, "%v: %s", args, stderr)
	return stdout
}

// TestCopyKeys: API keys move into the database and out of it as they are, revoked ones too; a copy adds what is missing.
func TestCopyKeys(t *testing.T) {
	name := postgrestest.Start(t).Database(t)
	file := filepath.Join(t.TempDir(), "ledger.db")
	ledger, err := sqlite.Open(sqlite.Settings{File: file})
	require.NoError(t, err)
	require.NoError(t, ledger.Close())
	open := func(file string) keys.Keys {
		store, err := keys.OpenFile(file, func(m string) { t.Error(m) }, time.Now)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, store.Close()) })
		return store
	}
	from := open(file + ".keys")
	hashes := [][32]byte{{1}, {2}, {3}}
	for i, k := range []keys.Key{{ID: "a", Subject: "ann", Scopes: []string{"proxy"}, Expires: time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC)}, {ID: "b", Subject: "bob", Scopes: []string{"gateway"}, Note: "gone"}, {ID: "c"}} {
		require.NoError(t, from.Add(t.Context(), k, hashes[i]))
	}
	require.NoError(t, from.Revoke(t.Context(), "b"))

	db, err := postgres.Open(postgres.Settings{Name: name})
	require.NoError(t, err)
	shared := keys.In(db)
	defer func() { assert.NoError(t, shared.Close()) }()
	require.NoError(t, shared.Add(t.Context(), keys.Key{ID: "c", Subject: "another"}, [32]byte{9}))

	assert.Contains(t, requireRun(t, "", "copy", "sqlite:"+file, name), "\n2 API keys were added, and 1 were there already.\n")
	assert.Contains(t, requireRun(t, "", "copy", file, name), "\n0 API keys were added, and 3 were there already.\n")
	_, known, err := shared.Lookup(t.Context(), hashes[2])
	require.NoError(t, err)
	assert.False(t, known, "the one of this id stays")
	assert.NotContains(t, requireRun(t, "", "copy", "--subject", "ann", file, name), "API keys")

	back := file + "-back"
	assert.Equal(t, "3 API keys were added, and 0 were there already.\n", requireRun(t, "", "copy", name, "sqlite:"+back))
	assert.Equal(t, "0 API keys were added, and 3 were there already.\n", requireRun(t, "", "copy", "--keys", back+".keys", name, back))
	assert.Equal(t, "0 API keys were added, and 3 were there already.\n", requireRun(t, "", "copy", back, name), "keys without a ledger")
	code, _, stderr := run(t, "", "copy", back+"-none", name)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "copy the ledger")
	again := open(back + ".keys")
	for i, hash := range hashes[:2] {
		first, _, err := from.Lookup(t.Context(), hash)
		require.NoError(t, err)
		last, known, err := again.Lookup(t.Context(), hash)
		require.NoError(t, err)
		assert.True(t, known)
		assert.Equal(t, i == 0, last.Valid(time.Now()))
		assert.Equal(t, first, last)
	}
}

func ledgerIn(t *testing.T, name string) *ledgerpg.Store {
	t.Helper()
	db, err := postgres.Open(postgres.Settings{Name: name})
	require.NoError(t, err)
	store := ledgerpg.In(db, time.Now)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	return store
}

// TestVersions: an older schema and a newer one are refused with what to do; several that migrate at once do it once.
func TestVersions(t *testing.T) {
	server := postgrestest.Start(t)
	name := server.Empty(t)
	code, _, stderr := run(t, name, "status")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, `run "mcp-pruner store migrate"`)
	code, _, stderr = run(t, name, "forget", "--project", "p")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, `run "mcp-pruner store migrate"`)

	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			_, to, err := postgres.Migrate(t.Context(), postgres.Settings{Name: name})
			assert.NoError(t, err)
			assert.Equal(t, postgres.Latest(), to)
		})
	}
	all.Wait()
	latest := postgres.Latest()
	assert.Equal(t, fmt.Sprintf("The schema has version %d already.\n", latest), requireRun(t, name, "migrate"))
	assert.Contains(t, requireRun(t, name, "status"), fmt.Sprintf("schema version %d of %d", latest, latest))

	server.SQL(t, name, "INSERT INTO mcp_pruner.schema (version) VALUES (99)")
	for _, args := range [][]string{{"status"}, {"migrate"}, {"forget", "--project", "p"}} {
		code, _, stderr = run(t, name, args...)
		assert.Equal(t, 1, code)
		assert.Contains(t, stderr, "the database's schema has version 99")
		assert.Contains(t, stderr, "use a newer mcp-pruner")
	}

	server.SQL(t, name, fmt.Sprintf("DELETE FROM mcp_pruner.schema WHERE version >= %d", latest))
	for _, args := range [][]string{{"status"}, {"forget", "--project", "p"}} {
		code, _, stderr = run(t, name, args...)
		assert.Equal(t, 1, code)
		assert.Contains(t, stderr, fmt.Sprintf(`the database's schema has version %d, and this program needs %d: run "mcp-pruner store migrate"`, latest-1, latest))
	}
	_, err := stores.Database(stores.Place{Database: postgres.Settings{Name: name}}, nil)
	var version *postgres.VersionError
	require.ErrorAs(t, err, &version, "a server does not start")
}

// A password is neither taken from the command line nor printed.
func TestPasswords(t *testing.T) {
	code, _, stderr := run(t, "", "status", "--store", "postgres://u:geheim@127.0.0.1:1/d")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "PGPASSFILE")
	assert.NotContains(t, stderr, "geheim")
	code, _, stderr = run(t, "postgres://u:geheim@127.0.0.1:1/d", "status")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "127.0.0.1:1")
	assert.NotContains(t, stderr, "geheim")
	code, _, stderr = run(t, "", "status")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "MCP_PRUNER_STORE")
}

// TestCopyForgetAndRestore: a user's ledger moves into the database, a backup of it is whole, and what is forgotten is gone.
func TestCopyForgetAndRestore(t *testing.T) {
	server := postgrestest.Start(t)
	name := server.Database(t)
	file := filepath.Join(t.TempDir(), "ledger.db")
	from, err := sqlite.Open(sqlite.Settings{File: file})
	require.NoError(t, err)
	hostile := "a\x00b\xff\r\n"
	for _, text := range []string{"one", "two", hostile} {
		_, err = from.Put(t.Context(), contextgc.Entry{Text: text, Key: bytes.Repeat([]byte(text[:1]), 32), Segment: contextgc.Segment{Project: "p", Session: "s", Path: "a\x00.go", Tags: []string{"x"}}})
		require.NoError(t, err)
	}
	place := contextgc.Place{ID: [32]byte{1}, Marks: [][32]byte{{2}}}
	_, err = from.Clear(t.Context(), place, []contextgc.Clearing{{Item: [32]byte(bytes.Repeat([]byte("o"), 32)), Segment: "s1", Stub: "[cleared \x00]"}})
	require.NoError(t, err)
	require.NoError(t, from.AddUsage(t.Context(), contextgc.Usage{Session: "s", Input: 3}))
	require.NoError(t, from.Close())

	assert.Equal(t, "3 segments, 1 decisions and the usage of 1 sessions were added.\n", requireRun(t, "", "copy", "sqlite:"+file, name))
	assert.Equal(t, "0 segments, 0 decisions and the usage of 0 sessions were added.\n", requireRun(t, "", "copy", file, name), "a second time")
	to := ledgerIn(t, name)
	_, text, err := to.Get(t.Context(), contextgc.Reference{Project: "p", ID: "s3"})
	require.NoError(t, err)
	assert.Equal(t, hostile, text)
	list, _, _, err := to.Clearings(t.Context(), 0)
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, "[cleared \x00]", list[0].Stub)
	heads, err := to.Heads(t.Context(), place.Marks)
	require.NoError(t, err)
	assert.Equal(t, map[[32]byte][32]byte{{2}: {1}}, heads)

	ann := subject.With(t.Context(), "ann")
	_, err = to.Put(ann, contextgc.Entry{Text: "ann's", Segment: contextgc.Segment{Project: "p"}})
	require.NoError(t, err)
	db, err := postgres.Open(postgres.Settings{Name: name})
	require.NoError(t, err)
	originals, err := recoverypg.In(db, recovery.Settings{})
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

	assert.Equal(t, "1 segments were removed.\n", requireRun(t, name, "forget", "--subject", "ann"))
	_, err = originals.Get(ann, id)
	require.Error(t, err)
	assert.Equal(t, "3 segments were removed.\n", requireRun(t, name, "forget", "--project", "p"))
	size, err := to.Size(t.Context())
	require.NoError(t, err)
	assert.Zero(t, size.Bytes)

	_, text, err = ledgerIn(t, again).Get(ann, contextgc.Reference{Project: "p", ID: "s4"})
	require.NoError(t, err)
	assert.Equal(t, "ann's", text, "the backup has it")
}
