package ledger

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// File returns the ledger's default file, in the user's state directory.
func File(lookup func(string) (string, bool)) (string, error) {
	dir, err := files.StateDir(lookup)
	if err != nil {
		return "", fmt.Errorf("there is no directory for the ledger (%w): name a file with --store or %s", err, Variable)
	}
	return filepath.Join(dir, "ledger.db"), nil
}

// Open opens a ledger and stores the entries that hooks left in its spool. failed receives messages about
// errors that do not prevent opening; nil: they are dropped.
func Open(ctx context.Context, file string, failed func(message string)) (contextgc.Ledger, error) {
	store, err := store.OpenLedger(store.LedgerFile{File: file, Report: failed})
	if err != nil {
		return nil, err
	}
	if err := SpoolOf(file).Drain(ctx, store); err != nil && failed != nil {
		failed(err.Error())
	}
	return store, nil
}

// Variable is the environment variable with the ledger's file name.
const Variable = "MCP_PRUNER_GC_STORE"

// The variable that names a place for all state, and how it names a file.
const (
	storeVariable = "MCP_PRUNER_STORE"
	sqliteStore   = "sqlite:"
)

// Find returns the given file, else the one named in the environment, else the user's default. It returns an error if
// the given file is there and not of SQLite: opening it would rename it as a damaged ledger.
func Find(given string, lookup func(string) (string, bool)) (string, error) {
	if given != "" {
		given = strings.TrimPrefix(given, sqliteStore)
		return given, refuseForeign(given)
	}
	if file, ok := lookup(Variable); ok && file != "" {
		return strings.TrimPrefix(file, sqliteStore), nil
	}
	if store, _ := lookup(storeVariable); strings.HasPrefix(store, sqliteStore) {
		return strings.TrimPrefix(store, sqliteStore), nil
	}
	return File(lookup)
}

func refuseForeign(path string) error {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil // opening the ledger creates it, or fails
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	const magic = "SQLite format 3\x00"
	start := make([]byte, len(magic))
	n, err := io.ReadFull(f, start)
	if err == io.EOF || string(start[:n]) == magic { // an empty file becomes a ledger
		return nil
	}
	return fmt.Errorf("%s is not a ledger: name another file", path)
}
