package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func openIt(t *testing.T, path string, damaged *[]string) *file {
	t.Helper()
	f, err := openFile(fileSettings{
		Path: path, Name: "it", Patience: time.Minute,
		Prepare: func(db *sql.DB) error {
			_, err := db.Exec(`CREATE TABLE IF NOT EXISTS t (n INTEGER); SELECT COUNT(*) FROM t`)
			return err
		},
		Damaged: func(report string) { *damaged = append(*damaged, report) },
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func insert(ctx context.Context, q querier) error {
	_, err := q.exec(ctx, `INSERT INTO t VALUES (1)`)
	return err
}

func count(t *testing.T, f *file) (n int) {
	t.Helper()
	require.NoError(t, f.DB().QueryRow(`SELECT COUNT(*) FROM t`).Scan(&n))
	return n
}

func TestWorkThatFailsLeavesNothing(t *testing.T) {
	var damaged []string
	f := openIt(t, filepath.Join(t.TempDir(), "a b?.db"), &damaged)
	require.NoError(t, f.write(t.Context(), insert))
	failed := errors.New("failed")
	require.ErrorIs(t, f.write(t.Context(), func(ctx context.Context, q querier) error { return errors.Join(insert(ctx, q), failed) }), failed)
	assert.Equal(t, 1, count(t, f))
	assert.Empty(t, damaged)
	if info, err := os.Stat(f.settings.Path); assert.NoError(t, err) && os.PathSeparator == '/' {
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, f.write(ended, insert), context.Canceled)
}

func TestADamagedFileIsKeptAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	require.NoError(t, os.WriteFile(path, []byte("this is no database, however long it may be"), 0o600))
	var damaged []string
	f := openIt(t, path, &damaged)
	require.Len(t, damaged, 1)
	aside, _, _ := strings.Cut(strings.TrimPrefix(damaged[0], "it was damaged; it is kept as "), " and a new one begins")
	kept, err := os.ReadFile(aside)
	require.NoError(t, err)
	assert.Contains(t, string(kept), "no database")
	require.NoError(t, f.write(t.Context(), insert))
	assert.Equal(t, 1, count(t, f))
	require.ErrorIs(t, f.ReplaceDamaged(t.Context(), f.DB(), sql.ErrNoRows), sql.ErrNoRows, "not damage")
}

// TestOpeningWaitsForWriters: another process writes to a new file whose journal mode is still SQLite's own. SQLite does
// not wait there, whatever its busy_timeout: the change of the journal mode fails at once, and opening tries again.
func TestOpeningWaitsForWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	other, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate")
	require.NoError(t, err)
	t.Cleanup(func() { _ = other.Close() })
	writing, err := other.Begin()
	require.NoError(t, err)
	var refused error
	f, err := openFile(fileSettings{Path: path, Patience: time.Minute, Prepare: func(db *sql.DB) error {
		_, err := db.Exec(`CREATE TABLE IF NOT EXISTS t (n INTEGER)`)
		if refused == nil {
			refused = err
			require.NoError(t, writing.Rollback())
		}
		return err
	}})
	require.ErrorContains(t, refused, "SQLITE_BUSY")
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	require.NoError(t, f.write(t.Context(), insert))
	assert.Equal(t, 1, count(t, f))
}

// A file that was removed is not created again by a connection that the pool opens later.
func TestARemovedFileStaysAway(t *testing.T) {
	if os.PathSeparator != '/' {
		t.Skip("Windows removes no open file")
	}
	var damaged []string
	f := openIt(t, filepath.Join(t.TempDir(), "a.db"), &damaged)
	require.NoError(t, f.write(t.Context(), insert))
	used, err := f.DB().Conn(t.Context())
	require.NoError(t, err)
	defer func() { _ = used.Close() }()
	require.NoError(t, os.Remove(f.settings.Path))
	assert.True(t, f.Lost())
	_, err = f.DB().ExecContext(t.Context(), `INSERT INTO t VALUES (2)`) // on another connection
	require.Error(t, err)
	assert.NoFileExists(t, f.settings.Path)
}

// TestALockedFileIsLeftAlone: after one writer has waited in vain the next ones fail at once, until it is time to try again.
func TestALockedFileIsLeftAlone(t *testing.T) {
	var damaged []string
	f := openIt(t, filepath.Join(t.TempDir(), "a.db"), &damaged)
	other, err := f.DB().Conn(t.Context())
	require.NoError(t, err)
	defer other.Close()
	_, err = other.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	require.NoError(t, err)
	short, cancel := context.WithTimeout(t.Context(), lockedFirst/2)
	defer cancel()
	require.Error(t, f.write(short, insert))
	first := f.locked
	require.ErrorIs(t, f.write(t.Context(), insert), errLocked, "it does not wait a minute")
	f.locked = time.Time{}
	again, cancel := context.WithTimeout(t.Context(), lockedFirst/2)
	defer cancel()
	require.Error(t, f.write(again, insert))
	assert.Equal(t, 2*lockedFirst, f.lasting)
	assert.True(t, f.locked.After(first))

	_, err = other.ExecContext(t.Context(), "ROLLBACK")
	require.NoError(t, err)
	f.locked = time.Time{}
	require.NoError(t, f.write(t.Context(), insert))
	assert.Zero(t, f.lasting)
	assert.Equal(t, 1, count(t, f))
}
