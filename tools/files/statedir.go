package files

import (
	"errors"
	"path/filepath"
	"runtime"
)

// StateDir returns the directory in which this program keeps data between runs, such as
// $XDG_STATE_HOME/mcp-pruner. It does not create it.
func StateDir(lookup func(string) (string, bool)) (string, error) {
	return stateDirOf(runtime.GOOS, lookup)
}

func stateDirOf(system string, lookup func(string) (string, bool)) (string, error) {
	get := func(name string) string { v, _ := lookup(name); return v }
	switch {
	case get("XDG_STATE_HOME") != "":
		return filepath.Join(get("XDG_STATE_HOME"), "mcp-pruner"), nil
	case system == "windows" && get("LOCALAPPDATA") != "":
		return filepath.Join(get("LOCALAPPDATA"), "mcp-pruner"), nil
	case get("HOME") != "":
		return filepath.Join(get("HOME"), ".local", "state", "mcp-pruner"), nil
	}
	return "", ErrNoStateDir
}

// PrefixReport returns the file in the directory with the last report of context on a client.
func PrefixReport(dir, client string) string { return filepath.Join(dir, "context-"+client+".json") }

// ErrNoStateDir says that the environment names no folder for data.
var ErrNoStateDir = errors.New("neither XDG_STATE_HOME nor HOME is set")
