// Package sqlite keeps a ledger in one SQLite file in WAL mode, which several processes may have open.
package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/sqlfile"
)

// Settings configure a store. Only File is required.
type Settings struct {
	File string
	// Report is called with a message if a damaged file was renamed. Nil: no report.
	Report   func(message string)
	Patience time.Duration    // maximum wait for other writers; 0 means 10 seconds
	Now      func() time.Time // nil means time.Now
}

// Store implements contextgc.Ledger.
type Store struct {
	settings Settings
	file     *sqlfile.File
}

// Equal texts are stored once. seq numbers segments in the order of arrival and is never
// reused. words is an index that stores no texts; its rowid is the segment's seq.
const tables = `
CREATE TABLE IF NOT EXISTS texts (hash BLOB PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS projects (project TEXT PRIMARY KEY, collections INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS segments (
	seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, key BLOB UNIQUE,
	project TEXT NOT NULL, task TEXT NOT NULL, session TEXT NOT NULL, type TEXT NOT NULL, tool TEXT NOT NULL,
	path TEXT NOT NULL, first_line INTEGER NOT NULL, last_line INTEGER NOT NULL,
	tokens INTEGER NOT NULL, bytes INTEGER NOT NULL, created INTEGER NOT NULL, touched INTEGER NOT NULL,
	pinned INTEGER NOT NULL, tier TEXT NOT NULL, born INTEGER NOT NULL, refs INTEGER NOT NULL,
	tags TEXT NOT NULL, topic TEXT NOT NULL, hash BLOB NOT NULL, superseded TEXT NOT NULL DEFAULT '',
	UNIQUE (project, id));
CREATE INDEX IF NOT EXISTS segments_created ON segments (project, created);
CREATE INDEX IF NOT EXISTS segments_id ON segments (id);
CREATE INDEX IF NOT EXISTS segments_hash ON segments (hash);
CREATE INDEX IF NOT EXISTS segments_path ON segments (project, path) WHERE path != '';
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
	text, content='', contentless_delete=1, detail=none, tokenize="unicode61 remove_diacritics 0 tokenchars '_'");
CREATE TABLE IF NOT EXISTS clearings (
	seq INTEGER PRIMARY KEY AUTOINCREMENT, item BLOB NOT NULL, since BLOB NOT NULL, segment TEXT NOT NULL,
	stub TEXT NOT NULL, tokens INTEGER NOT NULL, free INTEGER NOT NULL, created INTEGER NOT NULL, UNIQUE (item, since));
CREATE INDEX IF NOT EXISTS clearings_since ON clearings (since);
CREATE TABLE IF NOT EXISTS decisions (
	since BLOB PRIMARY KEY, parent BLOB NOT NULL, why TEXT NOT NULL DEFAULT '', pays INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS places (mark BLOB PRIMARY KEY, head BLOB NOT NULL, created INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS places_created ON places (created);
CREATE INDEX IF NOT EXISTS segments_session ON segments (session) WHERE session != '';
CREATE TABLE IF NOT EXISTS usage (
	session TEXT PRIMARY KEY, api TEXT NOT NULL, model TEXT NOT NULL, calls INTEGER NOT NULL, input INTEGER NOT NULL,
	read INTEGER NOT NULL, written INTEGER NOT NULL, output INTEGER NOT NULL, before REAL NOT NULL, after REAL NOT NULL,
	cleared INTEGER NOT NULL, updated INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS marks (
	seq INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, project TEXT NOT NULL, kind TEXT NOT NULL,
	detail TEXT NOT NULL, created INTEGER NOT NULL);`

// Open opens a store, or creates it. A damaged file is renamed and reported, and a new
// store is created in its place.
func Open(s Settings) (*Store, error) {
	if s.Report == nil {
		s.Report = func(string) {}
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	err := os.MkdirAll(filepath.Dir(s.File), 0o700)
	if err != nil {
		return nil, err
	}
	file, err := sqlfile.Open(sqlfile.Settings{
		Path: s.File, Name: "the ledger", Patience: cmp.Or(s.Patience, 10*time.Second), Prepare: prepare, Now: s.Now, Damaged: s.Report,
	})
	if err != nil {
		return nil, fmt.Errorf("open the ledger %s: %w", s.File, err)
	}
	return &Store{settings: s, file: file}, nil
}

// prepare creates the tables and reads the two most important ones, which reveals damage.
func prepare(db *sql.DB) error {
	db.SetMaxOpenConns(8)
	if _, err := db.Exec(tables); err != nil {
		return err
	}
	// Ledgers of earlier versions have no reasons.
	if err := sqlfile.AddColumns(db, "decisions", map[string]string{"why": "TEXT NOT NULL DEFAULT ''", "pays": "INTEGER NOT NULL DEFAULT 0"}); err != nil {
		return err
	}
	var n int
	return db.QueryRow(`SELECT (SELECT COUNT(*) FROM segments WHERE seq < 1000) + (SELECT COUNT(*) FROM clearings)`).Scan(&n)
}

// Name returns the absolute path of the file.
func (s *Store) Name() string { return s.file.Path() }

// Shared implements contextgc.Ledger.
func (s *Store) Shared() bool { return false }

// Lost reports that the file was removed or replaced while it was open, so that no other
// process finds what it contains.
func (s *Store) Lost() bool { return s.file.Lost() }

// Close releases the file.
func (s *Store) Close() error { return s.file.Close() }

// write runs work in one transaction, one at a time within this process. If the file turns
// out to be damaged, it is renamed and work runs again in a new file.
func (s *Store) write(ctx context.Context, work func(tx *sql.Tx) error) error {
	return s.file.Write(ctx, work)
}
