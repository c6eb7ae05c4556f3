package files_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// content returns the text of a folder's only file: nothing temporary is left.
func content(t *testing.T, path string) string {
	t.Helper()
	list, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, list, 1)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func TestAFileIsReplacedWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "made", "f")
	require.NoError(t, files.Atomic{Path: path}.Write([]byte("one "), []byte("two")))
	assert.Equal(t, "one two", content(t, path))
	for _, mode := range []fs.FileMode{0, 0o640} {
		require.NoError(t, files.Atomic{Path: path, Mode: mode, Fast: mode == 0}.Write([]byte("next")))
		assert.Equal(t, "next", content(t, path))
		info, err := os.Stat(path)
		require.NoError(t, err)
		if runtime.GOOS != "windows" {
			assert.Equal(t, max(mode, 0o600), info.Mode().Perm())
		}
	}
}

// A file that fails its check changes nothing. The check sees the complete file.
func TestAnErrorLeavesTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, files.Atomic{Path: path}.Write([]byte("old")))
	bad := errors.New("bad")
	err := files.Atomic{Path: path, Check: func(temp string) error {
		text, err := os.ReadFile(temp)
		assert.Equal(t, "new", string(text))
		return errors.Join(err, bad)
	}}.Write([]byte("new"))
	require.ErrorIs(t, err, bad)
	assert.Equal(t, "old", content(t, path))

	folder := filepath.Join(t.TempDir(), "folder")
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "f"), 0o700))
	require.Error(t, files.Atomic{Path: folder}.Write([]byte("new")))
	list, err := os.ReadDir(filepath.Dir(folder))
	require.NoError(t, err)
	assert.Len(t, list, 1)
}

// Of several writers of a new file one succeeds, and the others learn that it exists.
func TestANewFileHasOneWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	var all sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		all.Go(func() { errs[i] = files.Atomic{Path: path, New: true}.Write([]byte{byte('0' + i)}) })
	}
	all.Wait()
	text := content(t, path)
	for i, err := range errs {
		if text == string(rune('0'+i)) {
			assert.NoError(t, err)
			continue
		}
		assert.ErrorIs(t, err, fs.ErrExist)
	}
}

func TestAFolderIsTried(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, files.TryAtomic(dir))
	require.ErrorIs(t, files.TryAtomic(filepath.Join(dir, "missing")), fs.ErrNotExist)
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, list)
}
