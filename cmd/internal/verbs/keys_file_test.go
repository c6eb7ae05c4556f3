package verbs

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAKeyInAFileOfAll: "keys add" says when the key goes to a file that other users may read.
func TestAKeyInAFileOfAll(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing there")
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "alice.key"))
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	for mode, others := range map[os.FileMode]bool{0o600: false, 0o640: true, 0o604: true, 0o644: true} {
		require.NoError(t, file.Chmod(mode))
		assert.Equal(t, others, readByOthers(file), mode)
	}
	assert.False(t, readByOthers(io.Discard), "a terminal or a pipe")
}
