package ledger

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAFileIsNamedWithItsKind: each setting that names the ledger's file takes it with sqlite: before it, as MCP_PRUNER_STORE does.
func TestAFileIsNamedWithItsKind(t *testing.T) {
	for _, given := range []string{"sqlite:/a/ledger.db", "/a/ledger.db"} {
		for _, setting := range []string{"", Variable} {
			option := given
			if setting != "" {
				option = ""
			}
			file, err := Find(option, func(name string) (string, bool) { return given, name == setting })
			require.NoError(t, err)
			assert.Equal(t, "/a/ledger.db", file)
		}
	}
}

// TestAForeignFileIsNoLedger: a wrong --store neither renames nor changes the user's file.
func TestAForeignFileIsNoLedger(t *testing.T) {
	dir := t.TempDir()
	unset := func(string) (string, bool) { return "", false }
	for text, want := range map[string]string{
		"# My notes\n": "notes.md is not a ledger: name another file",
		"x":            "notes.md is not a ledger: name another file",
		"":             "",
	} {
		file := filepath.Join(dir, "notes.md")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		_, err := Find(file, unset)
		if want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
	made := filepath.Join(dir, "ledger.db")
	for range 2 { // first it is missing
		file, err := Find(made, unset)
		require.NoError(t, err)
		assert.Equal(t, made, file)
		store, err := Open(t.Context(), file, nil)
		require.NoError(t, err)
		require.NoError(t, store.Close())
	}
}
