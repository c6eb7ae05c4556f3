// Package statedir says where this program keeps data between runs.
package statedir

import (
	"errors"
	"path/filepath"
	"runtime"
)

// Find returns the directory in which this program keeps data between runs, such as
// $XDG_STATE_HOME/mcp-pruner. It does not create it.
func Find(lookup func(string) (string, bool)) (string, error) {
	return find(runtime.GOOS, lookup)
}

func find(system string, lookup func(string) (string, bool)) (string, error) {
	get := func(name string) string { v, _ := lookup(name); return v }
	switch {
	case get("XDG_STATE_HOME") != "":
		return filepath.Join(get("XDG_STATE_HOME"), "mcp-pruner"), nil
	case system == "windows" && get("LOCALAPPDATA") != "":
		return filepath.Join(get("LOCALAPPDATA"), "mcp-pruner"), nil
	case get("HOME") != "":
		return filepath.Join(get("HOME"), ".local", "state", "mcp-pruner"), nil
	}
	return "", ErrUnknown
}

// PrefixReport returns the file in the directory with the last report of context on a client.
func PrefixReport(dir, client string) string { return filepath.Join(dir, "context-"+client+".json") }

// ErrUnknown says that the environment names no folder for data.
var ErrUnknown = errors.New("neither XDG_STATE_HOME nor HOME is set")
