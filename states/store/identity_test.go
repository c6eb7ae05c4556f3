package store

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// checkpoint writes what is in the write-ahead log into the file, as SQLite itself does from time to time.
func checkpoint(t *testing.T, f *file) {
	t.Helper()
	_, err := f.DB().Exec(`PRAGMA wal_checkpoint(TRUNCATE)`)
	require.NoError(t, err)
}

// A file that is truncated, or whose content is replaced in place, is lost, at once and for good.
func TestAFileWithoutItsContentIsLost(t *testing.T) {
	overwrite := func(t *testing.T, path string, text []byte) { require.NoError(t, os.WriteFile(path, text, 0o600)) }
	var damaged []string
	for name, spoil := range map[string]func(t *testing.T, path string, earlier []byte){
		"empty":           func(t *testing.T, path string, _ []byte) { require.NoError(t, os.Truncate(path, 0)) },
		"a part":          func(t *testing.T, path string, _ []byte) { require.NoError(t, os.Truncate(path, 8192)) },
		"no database":     func(t *testing.T, path string, _ []byte) { overwrite(t, path, make([]byte, 1<<20)) },
		"an earlier copy": overwrite,
		"another one": func(t *testing.T, path string, _ []byte) {
			other := openIt(t, filepath.Join(t.TempDir(), "b.db"), &damaged)
			for range 300 {
				require.NoError(t, other.write(t.Context(), addLong))
			}
			checkpoint(t, other)
			text, err := os.ReadFile(other.settings.Path)
			require.NoError(t, err)
			overwrite(t, path, text)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := openIt(t, filepath.Join(t.TempDir(), "a.db"), &damaged)
			require.NoError(t, f.write(t.Context(), addLong))
			checkpoint(t, f)
			earlier, err := os.ReadFile(f.settings.Path)
			require.NoError(t, err)
			for range 20 {
				require.NoError(t, f.write(t.Context(), addLong))
			}
			checkpoint(t, f)
			require.False(t, f.Lost())
			spoil(t, f.settings.Path, earlier)
			assert.True(t, f.Lost())
			assert.True(t, f.Lost(), "it stays so")
		})
	}
}

func addLong(ctx context.Context, q querier) error {
	_, err := q.exec(ctx, `INSERT INTO t VALUES (zeroblob(20000))`)
	return err
}

// A file that is written, checkpointed, shrunk and opened by several at once is not lost.
func TestAFileInUseIsNotLost(t *testing.T) {
	var damaged []string
	path := filepath.Join(t.TempDir(), "a.db")
	files := []*file{openIt(t, path, &damaged), openIt(t, path, &damaged), openIt(t, path, &damaged)}
	var all sync.WaitGroup
	for n, f := range files {
		all.Go(func() {
			for i := range 150 {
				assert.NoError(t, f.write(t.Context(), addLong))
				if i%50 == 20*n {
					_, err := f.DB().Exec(`DELETE FROM t WHERE rowid % 2 = 0; VACUUM`)
					assert.NoError(t, err)
				}
				assert.False(t, f.Lost())
			}
		})
	}
	all.Wait()
	for _, f := range files {
		checkpoint(t, f)
		assert.False(t, f.Lost())
		assert.NotZero(t, f.content.Load().id)
		assert.Equal(t, files[0].content.Load().id, f.content.Load().id)
	}
	assert.Empty(t, damaged)
	db, err := sql.Open("sqlite", files[0].source())
	require.NoError(t, err)
	identify(db)
	require.NoError(t, db.Close())
	assert.False(t, files[0].Lost(), "it has an id")
}
