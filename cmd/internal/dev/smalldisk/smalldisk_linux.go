// Package smalldisk has a disk for tests that can really be full.
package smalldisk

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// New mounts a file system of 8 MB, or skips the test where that is not allowed. fill takes all of its
// space; free gives that back.
func New(t *testing.T) (dir string, fill, free func()) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=8m"); err != nil {
		t.Skip("no file system can be mounted here:", err)
	}
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	filler := filepath.Join(dir, "filler")
	fill = func() {
		f, err := os.Create(filler)
		require.NoError(t, err)
		page := make([]byte, 4096)
		for err == nil {
			_, err = f.Write(page)
		}
		require.ErrorIs(t, err, syscall.ENOSPC)
		require.NoError(t, f.Close())
	}
	return dir, fill, func() { require.NoError(t, os.Remove(filler)) }
}
