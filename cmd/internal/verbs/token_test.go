package verbs

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A token that others may read is refused wherever the mode of a file says so.
func TestWhoMayReadAToken(t *testing.T) {
	for mode, open := range map[fs.FileMode]bool{0o600: false, 0o400: false, 0o640: true, 0o604: true, 0o620: true, 0o666: true} {
		assert.Equal(t, open, othersMayRead("linux", mode), mode)
		assert.Equal(t, open, othersMayRead("darwin", mode), mode)
		assert.False(t, othersMayRead("windows", mode), mode)
	}
}

func TestReadToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(path, []byte("secret\r\nsecond line\n"), 0o600))
	token, err := readToken(path)
	require.NoError(t, err)
	assert.Equal(t, "secret", token, "an editor on Windows ends lines with CR LF")
}
