package files

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// On macOS /tmp is a link to /private/tmp: a client may name a root by a link that the server was not started with.
func TestARootByAnotherLink(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, folder := range []string{"private/project/src", "private/other"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, folder), 0o700))
	}
	if err := os.Symlink("private", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	root, err := NewRoot(filepath.Join(dir, "private/project"))
	require.NoError(t, err)
	for path, want := range map[string]string{
		"link/project": ".", "link/project/src/a.go": "src/a.go", "link/project/new/a.go": "new/a.go", "private/project/src": "src",
		"link/other": "", "link/project/../other": "", "link": "", "link/project2": "", "none/project": "",
	} {
		rel, ok := root.Within("", filepath.Join(dir, filepath.FromSlash(path)))
		assert.Equal(t, want != "", ok, path)
		assert.Equal(t, filepath.FromSlash(want), rel, path)
	}
}
