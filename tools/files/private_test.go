//go:build unix

package files

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadPrivate(t *testing.T) {
	base := t.TempDir()
	folder := filepath.Join(base, "results")
	require.NoError(t, os.Mkdir(folder, 0o700))
	write := func(path string) string {
		require.NoError(t, os.WriteFile(path, []byte("0123456789"), 0o600))
		return path
	}
	whole := write(filepath.Join(folder, "a.txt"))
	text, err := ReadPrivate(folder, whole, 10)
	require.NoError(t, err)
	require.Equal(t, "0123456789", string(text))
	_, err = ReadPrivate(folder, whole, 9)
	require.ErrorIs(t, err, ErrTooLarge)

	outside := write(filepath.Join(base, "secret"))
	link := filepath.Join(folder, "link")
	require.NoError(t, os.Symlink(outside, link))
	inside := filepath.Join(folder, "inside")
	require.NoError(t, os.Symlink("a.txt", inside))
	twice := filepath.Join(folder, "twice")
	require.NoError(t, os.Link(outside, twice))
	pipe := filepath.Join(folder, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	below := filepath.Join(folder, "below")
	require.NoError(t, os.Mkdir(below, 0o700))
	other := filepath.Join(base, "other")
	require.NoError(t, os.Symlink(folder, other))
	for _, bad := range []struct{ folder, path string }{
		{folder, link}, {folder, inside}, {folder, twice}, {folder, pipe}, {folder, below}, {folder, folder},
		{folder, outside}, {folder, folder + "/../secret"}, {folder, "a.txt"}, {folder, ""}, {"", "a.txt"},
		{folder, write(filepath.Join(below, "deep.txt"))}, {other, filepath.Join(other, "a.txt")}, {"/proc/self", "/proc/self/environ"},
	} {
		_, err := ReadPrivate(bad.folder, bad.path, 10)
		require.Error(t, err, bad)
	}
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(whole, 65534, 65534))
		_, err = ReadPrivate(folder, whole, 10)
		require.ErrorIs(t, err, ErrNotPrivate, "the file of another user")
	}
}
