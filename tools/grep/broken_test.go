package grep

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// A search does not fail because of a ripgrep that is missing, crashes, lacks a library or is too old, whatever it printed before.
func TestABrokenRipgrepIsNotNeeded(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs are shell scripts")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("no\na word\n"), 0o600))
	root, err := files.NewRoot(dir)
	require.NoError(t, err)
	for name, script := range map[string]string{
		"library": "echo 'rg: error while loading shared libraries: libpcre2.so' >&2; exit 127",
		"crash":   `printf '{"type":"begin","data":{"path":{"text":"` + dir + `/a.txt"}}}\n'; kill -9 $$`,
		"old":     `echo "error: Found argument '--no-ignore-global' which wasn't expected" >&2; exit 2`,
		"older":   "echo 'error: unrecognized flag --no-ignore-global' >&2; exit 2",
	} {
		rg := filepath.Join(t.TempDir(), "rg")
		require.NoError(t, os.WriteFile(rg, []byte("#!/bin/sh\n"+script+"\n"), 0o700))
		for _, mode := range []string{Content, Files, Counts} {
			engine := Engine{Root: root, Env: os.Environ, LookPath: func(program string) (string, error) {
				if program == "rg" {
					return rg, nil
				}
				return exec.LookPath(program)
			}}
			found, err := engine.Run(t.Context(), dir, Search{Pattern: "word", Mode: mode, MaxMatches: 10, MaxBytes: 1 << 20, Paths: []Path{{Rel: ".", Show: "."}}})
			if assert.NoError(t, err, "%s %s", name, mode) {
				assert.Equal(t, 1, found.Total, "%s %s", name, mode)
			}
		}
	}
}

// A file that an engine was led to through a link that was swapped in meanwhile is not even named.
func TestNoNameFromOutside(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "secret"), []byte("a word\n"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	real, err := exec.LookPath("grep")
	if err != nil {
		t.Skip(err)
	}
	rg := filepath.Join(t.TempDir(), "rg")
	swap := "#!/bin/sh\nrmdir " + dir + "/folder; ln -s " + outside + " " + dir + "/folder; case $1 in -l) printf '" + dir + "/folder/secret\\0';; -c) printf '" + dir + "/folder/secret\\0002\\n';; esac\n"
	require.NoError(t, os.WriteFile(rg, []byte(swap), 0o700))
	root, err := files.NewRoot(dir)
	require.NoError(t, err)
	for _, mode := range []string{Files, Counts} {
		engine := Engine{Root: root, Env: os.Environ, LookPath: func(program string) (string, error) { return map[string]string{"rg": rg, "grep": real}[program], nil }}
		found, err := engine.Run(t.Context(), dir, Search{Pattern: "word", Mode: mode, MaxMatches: 10, MaxBytes: 1 << 20, Paths: []Path{{Rel: ".", Show: "."}}})
		require.NoError(t, err)
		assert.Zero(t, found.Total, "%s: %+v", mode, found)
	}
}
