package trace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// On a system without file locks every record is in one file that is never rotated, which is reported once. There are
// no notes, and those of other processes are left alone, because their processes may be alive.
func TestATraceWithoutLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	others := path + notesInfix + "0123456789abcdef"
	require.NoError(t, os.WriteFile(others, make([]byte, ringBytes), 0o600))
	var failed []error
	f, err := Open(path, Options{
		MaxBytes: 1, MaxAge: time.Nanosecond, Keep: 1,
		Failed: func(err error) { failed = append(failed, err) },
		lock:   func(*os.File) (func(), error) { return nil, errors.ErrUnsupported },
	})
	require.NoError(t, err)
	for i := range 4 {
		f.Append(record(i), f.Note(record(i)))
		require.NoError(t, f.Flush())
	}
	require.NoError(t, f.Close())
	assert.Len(t, readTrace(t, path), 4)
	require.Len(t, failed, 1)
	require.ErrorIs(t, failed[0], errors.ErrUnsupported)
	left, err := filepath.Glob(path + "*")
	require.NoError(t, err)
	assert.Equal(t, []string{path, others}, left)
}
