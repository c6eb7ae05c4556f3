package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// Open opens a ledger and stores what hooks left for it. failed is told of what is wrong
// with the ledger that still opens; nil: nobody is.
func Open(ctx context.Context, file string, failed func(message string)) (*contextgc.Store, error) {
	store, err := contextgc.Open(contextgc.StoreSettings{File: file, Report: failed})
	if err != nil {
		return nil, err
	}
	if err := SpoolOf(file).Drain(ctx, store); err != nil && failed != nil {
		failed(err.Error())
	}
	return store, nil
}

// SessionID names a client's session in the ledger, whether its hooks or its requests to
// the API tell of it.
func SessionID(given string) string {
	sum := sha256.Sum256([]byte(given))
	return "sess_" + hex.EncodeToString(sum[:8])
}

// Get returns a segment of the user's ledger and its text. A ledger that is not there
// is not made.
func Get(lookup func(string) (string, bool), id string) (contextgc.Segment, string, error) {
	file, err := Find("", lookup)
	if err != nil {
		return contextgc.Segment{}, "", err
	}
	if !exists(file) && !exists(SpoolOf(file).Dir) {
		return contextgc.Segment{}, "", contextgc.ErrNotFound
	}
	store, err := Open(context.Background(), file, nil)
	if err != nil {
		return contextgc.Segment{}, "", err
	}
	segment, text, err := store.Get(context.Background(), "", id)
	return segment, text, errors.Join(err, store.Close())
}

func exists(path string) bool {
	_, err := os.Stat(path)
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
