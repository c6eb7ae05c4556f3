package postgres_test

import (
	"context"
	"crypto/sha256"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	recoverypg "github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/postgres"
	"github.com/mcp-pruner/mcp-pruner/tools/bucket"
	"github.com/mcp-pruner/mcp-pruner/tools/bucket/buckettest"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	ledger "github.com/mcp-pruner/mcp-pruner/tools/contextgc/postgres"
	"github.com/mcp-pruner/mcp-pruner/tools/postgres"
	"github.com/mcp-pruner/mcp-pruner/tools/postgres/postgrestest"
)

// Large texts lie in the bucket, one object for originals and the ledger, and are removed with the last that names them. Nothing
// is lost while the bucket is away.
func TestLargeTextsLieInTheBucket(t *testing.T) {
	objects := buckettest.Start(t)
	name := postgrestest.Start(t).Database(t)
	open := func(b bucket.Settings) (*ledger.Store, *recovery.Store, *postgres.DB) {
		db, err := postgres.Open(postgres.Settings{Name: name, Bucket: b, Patience: time.Minute})
		require.NoError(t, err)
		store := ledger.In(db, time.Now)
		t.Cleanup(func() { _ = store.Close() })
		other, err := postgres.Open(postgres.Settings{Name: name, Bucket: b, Patience: time.Minute})
		require.NoError(t, err)
		originals, err := recoverypg.In(other, recovery.Settings{})
		require.NoError(t, err)
		t.Cleanup(func() { _ = originals.Close() })
		return store, originals, db
	}
	store, originals, db := open(objects.Settings)
	large := strings.Repeat("a line of a large text with \x00 and \xff\n", 40_000)
	put := func(text string) (segment string, sum [32]byte) {
		ids, err := store.Put(t.Context(), contextgc.Entry{Text: text, Segment: contextgc.Segment{Project: "p", Session: "s"}})
		require.NoError(t, err)
		return ids[0], sha256.Sum256([]byte(text))
	}
	whole := func(id, want string) {
		_, got, err := store.Get(t.Context(), contextgc.Reference{Project: "p", ID: id})
		require.NoError(t, err)
		assert.True(t, got == want, "%s is what was stored", id)
	}
	segment, _ := put(large)
	id, err := originals.PutShort(t.Context(), large)
	require.NoError(t, err)
	small, _ := put("small")
	whole(segment, large)
	whole(small, "small")
	got, err := originals.Get(t.Context(), id)
	require.NoError(t, err)
	assert.True(t, got.String() == large)
	require.NoError(t, db.Sweep(t.Context()))
	require.Len(t, objects.Objects(), 1, "what is there already is not uploaded again")
	hits, _, err := store.Search(t.Context(), contextgc.Query{Project: "p", Text: "large"})
	require.NoError(t, err)
	assert.NotEmpty(t, hits, "the beginning is searched")

	objects.Break(true)
	away, _ := put(large + "while it is away")
	whole(away, large+"while it is away")
	_, _, err = store.Get(t.Context(), contextgc.Reference{Project: "p", ID: segment})
	require.ErrorContains(t, err, "503")
	objects.Break(false)
	whole(segment, large)

	without, _, _ := open(bucket.Settings{})
	_, _, err = without.Get(t.Context(), contextgc.Reference{Project: "p", ID: segment})
	require.ErrorContains(t, err, "MCP_PRUNER_STORE_BUCKET")

	_, err = store.Forget(context.Background(), contextgc.Forgotten{All: true})
	require.NoError(t, err)
	require.Empty(t, objects.Objects())
}

// A bucket that takes connections and does not answer holds nobody up for longer than the database may.
func TestABucketThatDoesNotAnswer(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = silent.Close() }()
	b := bucket.Settings{URL: "http://" + silent.Addr().String() + "/bucket", ID: "an-id", Secret: "a-secret"}
	db, err := postgres.Open(postgres.Settings{Name: postgrestest.Start(t).Database(t), Bucket: b, Patience: 3 * time.Second})
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	began := time.Now()
	row := db.RowOf(t.Context(), "", [32]byte{}, strings.Repeat("text", 1<<20))
	assert.Nil(t, row.Object)
	assert.Len(t, row.Body, 4<<20)
	assert.Less(t, time.Since(began), 20*time.Second, "the bucket's own limit is 30 s")
}
