package setup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// strict is a syntax of JSON.
var strict = Syntax{Client: "Claude Code", Format: agent.StrictJSON}

// Of two members of the same name, clients see the last one; so do edits.
func TestTheLastOfEqualNamesCounts(t *testing.T) {
	j, err := ParseJSON([]byte(`{"a": {"x": 1}, "a": {"y": 2}}`))
	require.NoError(t, err)
	require.NoError(t, j.Set(3, "a", "z"))
	data, err := strict.Decode(j.Bytes())
	require.NoError(t, err)
	require.Equal(t, j.Get("a"), map[string]any{"y": 2.0, "z": 3.0})
	require.Len(t, data.(map[string]any)["a"], 2)
	require.True(t, j.Remove("a"))
	require.Nil(t, j.Get("a"), "the hidden one does not appear")
}

// A file that another program changed between reading and writing keeps that program's text.
func TestAnotherProgramsChangeIsKept(t *testing.T) {
	f := File{Path: filepath.Join(t.TempDir(), "settings.json"), Syntax: strict}
	require.NoError(t, os.WriteFile(f.Path, []byte("{}"), 0o600))
	_, err := f.Install(func(before []byte) ([]byte, error) {
		require.NoError(t, os.WriteFile(f.Path, []byte(`{"theirs": 1}`), 0o600))
		return []byte(`{"ours": 1}`), nil
	})
	require.ErrorContains(t, err, "another program changed it at the same moment; try again")
	text, err := os.ReadFile(f.Path)
	require.NoError(t, err)
	require.Equal(t, `{"theirs": 1}`, string(text))
	left, err := os.ReadDir(filepath.Dir(f.Path))
	require.NoError(t, err)
	require.Len(t, left, 1, "neither a copy nor a temporary file")
}
