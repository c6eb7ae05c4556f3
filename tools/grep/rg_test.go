package grep

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// Windows has no /dev/stdin, so rg reads the glob from a temporary file there. It finds the same, and the file is
// removed.
func TestTheGlobOnWindows(t *testing.T) {
	if _, err := exec.LookPath("rg"); err != nil {
		t.Skip("rg is not installed")
	}
	dir, temporary := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("TMP", temporary) // on Windows itself
	for _, name := range []string{"a.go", "a.md", "sub/b.go", "sub/.c.go", "sub/sub/b.go", ".d.go"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("word\n"), 0o600))
	}
	real, err := filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	root, err := files.NewRoot(real)
	require.NoError(t, err)
	for glob, want := range map[string][]string{
		"*.go":    {"a.go", "sub/b.go", "sub/sub/b.go"},
		"sub/*":   {"sub/b.go"},
		".*.go":   {".d.go", "sub/.c.go"},
		"!*.go":   {"a.md"},
		"none/**": nil,
	} {
		var names []string
		engine := Engine{Root: root, LookPath: exec.LookPath, Env: os.Environ, system: "windows"}
		found, err := engine.Run(t.Context(), real, Search{
			Pattern: "word", Glob: glob, Mode: Content, MaxMatches: 10, MaxBytes: 1 << 20, Paths: []Path{{Rel: ".", Show: "."}},
		})
		require.NoError(t, err, glob)
		for _, m := range found.Matches {
			names = append(names, m.Path)
		}
		assert.ElementsMatch(t, want, names, glob)
	}
	left, err := os.ReadDir(temporary)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// A glob that cannot be handed to rg is an error, not a search of all files.
func TestTheGlobOnWindowsWithoutATemporaryFolder(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	t.Setenv("TMPDIR", missing)
	t.Setenv("TMP", missing)
	run := rgRun{engine: &Engine{system: "windows"}, search: Search{Glob: "*.go"}, glob: newGlobFilter("*.go")}
	_, _, _, err := run.globArgs()
	require.ErrorIs(t, err, os.ErrNotExist)
}
