package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// File is where the ledger is unless a setting says otherwise: in the user's
// directory for state.
func File(lookup func(string) (string, bool)) (string, error) {
	dir := func(name string, more ...string) string {
		if v, ok := lookup(name); ok && filepath.IsAbs(v) {
			return filepath.Join(append([]string{v}, more...)...)
		}
		return ""
	}
	var base string
	switch runtime.GOOS {
	case "windows":
		base = dir("LocalAppData")
	case "darwin":
		base = dir("HOME", "Library", "Application Support")
	default:
		if base = dir("XDG_STATE_HOME"); base == "" {
			base = dir("HOME", ".local", "state")
		}
	}
	if base == "" {
		return "", errors.New("there is no home directory for the ledger: name a file with --store or MCP_PRUNER_GC_STORE")
	}
	return filepath.Join(base, "mcp-pruner", "ledger.db"), nil
}

// Exists says whether there is a file.
func Exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// Variable names the ledger's file in the environment.
const Variable = "MCP_PRUNER_GC_STORE"

// Find is the file that is given, else the one in the environment, else the user's.
func Find(given string, lookup func(string) (string, bool)) (string, error) {
	if given != "" {
		return given, nil
	}
	if file, ok := lookup(Variable); ok && file != "" {
		return file, nil
	}
	return File(lookup)
}
