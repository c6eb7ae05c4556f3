package tooltest

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// SmallDisk gives a test a real file system that is small enough to fill. It mounts 8 MB on dir, and skips the test if the user may not mount one. fill uses up all free
// space; free makes it available again.
func SmallDisk(t *testing.T) (dir string, fill, free func()) {
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
		// The kernel counts free pages per processor: a disk that is full for one can have room for another.
		for range 20 {
			for err = nil; err == nil; {
				_, err = f.Write(page)
			}
			require.ErrorIs(t, err, syscall.ENOSPC)
			time.Sleep(time.Millisecond)
		}
		require.NoError(t, f.Close())
	}
	return dir, fill, func() { require.NoError(t, os.Remove(filler)) }
}
