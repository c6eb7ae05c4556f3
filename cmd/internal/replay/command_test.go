package replay

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTranscriptsOfThisMachine(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".claude", "projects")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	paths, err := transcripts(func(name string) (string, bool) { return home, name == "HOME" })
	require.NoError(t, err)
	require.Equal(t, []string{dir}, paths)
	_, err = transcripts(func(string) (string, bool) { return "", false })
	require.ErrorContains(t, err, "HOME is not set")
}
