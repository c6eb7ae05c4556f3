package files

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFind(t *testing.T) {
	all := map[string]string{"XDG_STATE_HOME": "/x", "LOCALAPPDATA": "/l", "HOME": "/h"}
	of := func(system string, names ...string) (string, error) {
		return stateDirOf(system, func(name string) (string, bool) {
			if !slices.Contains(names, name) {
				return "", false
			}
			return all[name], true
		})
	}
	for _, system := range []string{"linux", "darwin", "windows"} {
		local := filepath.Join("/h", ".local", "state", "mcp-pruner")
		if system == "windows" {
			local = filepath.Join("/l", "mcp-pruner")
		}
		dir, err := of(system, "XDG_STATE_HOME", "LOCALAPPDATA", "HOME")
		require.NoError(t, err)
		require.Equal(t, filepath.Join("/x", "mcp-pruner"), dir, system)
		dir, err = of(system, "LOCALAPPDATA", "HOME")
		require.NoError(t, err)
		require.Equal(t, local, dir, system)
		dir, err = of(system, "HOME")
		require.NoError(t, err)
		require.Equal(t, filepath.Join("/h", ".local", "state", "mcp-pruner"), dir, system)
		_, err = of(system)
		require.Error(t, err, system)
	}
}
