package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"mcp-pruner/cmd/internal/originals"
	"mcp-pruner/tools/contextgc"
)

// File is where the ledger is unless a setting says otherwise: in the user's
// directory for state.
func File(lookup func(string) (string, bool)) (string, error) {
	dir, err := originals.StateDir(lookup)
	if err != nil {
		return "", fmt.Errorf("there is no directory for the ledger (%w): name a file with --store or %s", err, Variable)
	}
	return filepath.Join(dir, "ledger.db"), nil
}

// Get returns a segment of the user's ledger and its text. A ledger that is not there
// is not made.
func Get(lookup func(string) (string, bool), id string) (contextgc.Segment, string, error) {
	file, err := Find("", lookup)
	if err != nil {
		return contextgc.Segment{}, "", err
	}
	if _, err := os.Stat(file); err != nil {
		return contextgc.Segment{}, "", contextgc.ErrNotFound
	}
	store, err := contextgc.Open(contextgc.StoreSettings{File: file})
	if err != nil {
		return contextgc.Segment{}, "", err
	}
	segment, text, err := store.Get(context.Background(), "", id)
	return segment, text, errors.Join(err, store.Close())
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
