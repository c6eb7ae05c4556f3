package storecmd_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/auth/keys"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/archive"
	recoverypg "github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/postgres"
	recoveryfile "github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/sqlite"
	"github.com/mcp-pruner/mcp-pruner/tools/bucket/buckettest"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/sqlite"
	"github.com/mcp-pruner/mcp-pruner/tools/postgres"
	"github.com/mcp-pruner/mcp-pruner/tools/postgres/postgrestest"
	"github.com/mcp-pruner/mcp-pruner/tools/subject"
)

// TestCopyOriginals: an id that was given out before the move is recovered after it, by its subject alone and for the rest of
// its time. What cannot be copied is named.
func TestCopyOriginals(t *testing.T) {
	server := postgrestest.Start(t)
	name := server.Database(t)
	objects := buckettest.Start(t)
	state := t.TempDir()
	file := filepath.Join(state, "ledger.db")
	setting, err := json.Marshal(objects.Settings)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file+"-bucket", setting, 0o600))
	env := []string{"XDG_STATE_HOME=" + state, "MCP_PRUNER_STORE_BUCKET=" + file + "-bucket", "MCP_PRUNER_PRUNE_ID_TTL_S=7200"}

	ago := time.Duration(0)
	from, err := recoveryfile.Open(file+".originals", recovery.Settings{TTL: 24 * time.Hour, Now: func() time.Time { return time.Now().Add(-ago) }})
	require.NoError(t, err)
	texts := map[string]string{} // by subject and id
	put := func(owner, text string) string {
		id, err := from.PutShort(subject.With(t.Context(), owner), text)
		require.NoError(t, err)
		texts[owner+" "+id] = text
		return id
	}
	large := strings.Repeat("a long line\n", 100_000)
	put("ann", "the same text")
	put("bob@example.com", "the same text")
	put("", "the same text")
	put("", "the same text")
	put("", "a\x00b\xff\r\n")
	put("", large)
	stranger := put("unknown", "a stranger's")
	ago = time.Hour
	hour := put("", "an hour old")
	ago = 3 * time.Hour
	expired := put("", "expired")
	ago = 0
	taken := put("", "one text")
	require.NoError(t, from.Close())

	ledger, err := sqlite.Open(sqlite.Settings{File: file})
	require.NoError(t, err)
	_, err = ledger.Put(t.Context(), contextgc.Entry{Text: "cleared", Segment: contextgc.Segment{Project: "p"}})
	require.NoError(t, err)
	index := archive.Index{State: filepath.Join(state, "mcp-pruner")}
	shown, err := index.Claim(archive.NewEntry(sha256.Sum256([]byte("cleared")), file, "/project", 12))
	require.NoError(t, err)
	_, err = index.Claim(archive.NewEntry(sha256.Sum256([]byte("cleared")), file+"-another", "", 0))
	require.NoError(t, err)
	_, err = index.Claim(archive.NewEntry(sha256.Sum256([]byte("removed")), file, "", 0))
	require.NoError(t, err)
	require.NoError(t, ledger.Close())
	own, err := keys.OpenFile(file+".keys", func(m string) { t.Error(m) }, time.Now)
	require.NoError(t, err)
	require.NoError(t, own.Add(t.Context(), keys.Key{ID: "a", Subject: "ann"}, [32]byte{1}))
	require.NoError(t, own.Close())

	db, err := postgres.Open(postgres.Settings{Name: name, Bucket: objects.Settings})
	require.NoError(t, err)
	to, err := recoverypg.In(db, recovery.Settings{})
	require.NoError(t, err)
	defer func() { assert.NoError(t, to.Close()) }()
	server.SQL(t, name, `INSERT INTO mcp_pruner.texts (subject, hash, bytes, body) VALUES ('', 'h', 5, 'other');
		INSERT INTO mcp_pruner.originals (subject, id, hash) VALUES ('', '`+taken+`', 'h')`)

	copied := func(args ...string) string {
		code, stdout, stderr := runWith(t, env, append([]string{"copy"}, args...)...)
		require.Zero(t, code, stderr)
		return stdout
	}
	hash := func(owner string) string { return strings.TrimSuffix(recovery.Item{}.Of(owner).ID, "/") }
	first := copied("sqlite:"+file, name)
	assert.Contains(t, first, "\n7 originals were added, and 0 were there already.\n")
	assert.Contains(t, first, "1 originals stay in the file alone, because the database has other texts under their ids.\n")
	for _, owner := range []string{"bob@example.com", "unknown"} {
		assert.Contains(t, first, "1 originals of a subject with the hash "+hash(owner)+" stay in the file alone")
	}
	require.Len(t, objects.Objects(), 1)
	assert.Contains(t, copied("--originals-of", "bob@example.com", file, name), "\n1 originals were added, and 7 were there already.\n")
	assert.Len(t, objects.Objects(), 1, "nothing is uploaded again")

	for of, text := range texts {
		owner, id, _ := strings.Cut(of, " ")
		for _, who := range []string{"", "ann", "bob@example.com", "unknown"} {
			got, err := to.Get(subject.With(t.Context(), who), id)
			if who != owner || id == stranger || id == expired || id == taken {
				assert.False(t, err == nil && got.String() == text, "%q has %s of %q", who, id, owner)
				continue
			}
			require.NoError(t, err, "%s of %q", id, owner)
			assert.True(t, got.String() == text, "%s of %q", id, owner)
		}
	}
	got, line, err := recoverypg.Shown{DB: db}.Text(t.Context(), shown)
	require.NoError(t, err)
	assert.Equal(t, "cleared 12", got+" "+strconv.Itoa(line))
	var left float64 // minutes
	require.NoError(t, db.Read(t.Context(), func(ctx context.Context, q postgres.Querier) error {
		return q.QueryRow(ctx, `SELECT EXTRACT(EPOCH FROM expires_at - now()) / 60 FROM mcp_pruner.originals WHERE id = $1`, hour).Scan(&left)
	}))
	assert.InDelta(t, 30, left, 30, "of two hours one is over")

	copied("--subject", "ann", "--originals", file+".originals", file+"-none", name)
	again, err := to.Get(subject.With(t.Context(), "ann"), hour)
	require.NoError(t, err)
	assert.Equal(t, "an hour old", again.String())
	code, _, stderr := runWith(t, env, "copy", "--originals", file+"-none", file, name)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "copy the originals")
}
