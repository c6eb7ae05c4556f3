// Package postgres keeps a ledger in a database that replicas share. Each subject has a ledger of its own in it, which no
// other one can read.
package postgres

import (
	"context"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/postgres"
	"github.com/mcp-pruner/mcp-pruner/tools/subject"
)

// Store implements contextgc.Ledger. What it reads and changes is the ledger of the context's subject, except for the
// decisions: their hashes are different for each subject already.
type Store struct {
	db  *postgres.DB
	now func() time.Time
}

// In returns the ledger in a database, which Close closes. now is the clock that ages are measured by: db.Now, except in tests.
func In(db *postgres.DB, now func() time.Time) *Store { return &Store{db, now} }

// Name implements contextgc.Ledger.
func (s *Store) Name() string { return s.db.Name() }

// Shared implements contextgc.Ledger.
func (s *Store) Shared() bool { return true }

// Lost implements contextgc.Ledger. A database that is away is not lost: its content comes back with it.
func (s *Store) Lost() bool { return false }

// Shrink implements contextgc.Ledger. The server does so by itself.
func (s *Store) Shrink(context.Context) error { return nil }

// Close implements contextgc.Ledger.
func (s *Store) Close() error { return s.db.Close() }

// ownerOf returns whose a segment or a usage is.
func ownerOf(ctx context.Context, given string) string {
	if given != "" {
		return given
	}
	return subject.Of(ctx)
}

var _ contextgc.Ledger = (*Store)(nil)
