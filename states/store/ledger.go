package store

import (
	"cmp"
	"context"
	"database/sql"
	_ "embed" // for the tables
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/sqlfile"
)

// Ledger implements contextgc.Ledger, in a file or in a database. In a database what it reads and changes is the ledger of the
// context's subject, except for the decisions: their hashes are different for each subject already.
type Ledger struct {
	place
	db   *DB    // nil: in a file
	file *file  // nil: in a database, or only read
	name string // of the file, or of the database without its password
	now  func() time.Time
}

// LedgerFile configures a ledger in a file. Only File is required.
type LedgerFile struct {
	File string
	// Report is called with a message if a damaged file was renamed. Nil: no report.
	Report   func(message string)
	Patience time.Duration    // maximum wait for other writers; 0 means 10 seconds
	Now      func() time.Time // nil means time.Now
}

// ledgerTables are the tables of a ledger. Equal texts are stored once. seq numbers segments in the order of arrival and is never
// reused. words is an index that stores no texts; its rowid is the segment's seq.
//
//go:embed migrations/sqlite/ledger.sql
var ledgerTables string

// OpenLedger opens a ledger in a file, or creates it. A damaged file is renamed and reported, and a new one is created in its
// place.
func OpenLedger(s LedgerFile) (*Ledger, error) {
	if s.Report == nil {
		s.Report = func(string) {}
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if err := os.MkdirAll(filepath.Dir(s.File), 0o700); err != nil {
		return nil, err
	}
	f, err := openFile(fileSettings{
		Path: s.File, Name: "the ledger", Patience: cmp.Or(s.Patience, patience), Prepare: prepareLedger, Now: s.Now, Damaged: s.Report,
	})
	if err != nil {
		return nil, fmt.Errorf("open the ledger %s: %w", s.File, err)
	}
	return &Ledger{place: f, file: f, name: f.settings.Path, now: s.Now}, nil
}

// patience is how long other writers of a file are waited for.
const patience = 10 * time.Second

// prepareLedger creates the tables and reads the two most important ones, which reveals damage.
func prepareLedger(db *sql.DB) error {
	db.SetMaxOpenConns(8)
	if _, err := db.Exec(ledgerTables); err != nil {
		return err
	}
	// Ledgers of earlier versions have no reasons.
	if err := addColumns(db, "decisions", map[string]string{"why": "TEXT NOT NULL DEFAULT ''", "pays": "INTEGER NOT NULL DEFAULT 0"}); err != nil {
		return err
	}
	var n int
	return db.QueryRow(`SELECT (SELECT COUNT(*) FROM segments WHERE seq < 1000) + (SELECT COUNT(*) FROM clearings)`).Scan(&n)
}

// LedgerIn returns the ledger in a database, which Close closes. now is the clock that ages are measured by: db.Now, except in
// tests.
func LedgerIn(db *DB, now func() time.Time) *Ledger {
	return &Ledger{place: db, db: db, name: db.Name(), now: now}
}

// ReadLedger returns the ledger in a file for reading: it neither creates nor changes the file.
func ReadLedger(file string) *Ledger {
	return &Ledger{place: unchanged(file), name: file, now: time.Now}
}

// unchanged is a file that is opened for each reading.
type unchanged string

func (u unchanged) shared() bool { return false }

func (u unchanged) read(ctx context.Context, work func(context.Context, querier) error) error {
	return sqlfile.Read(string(u), patience, func(db *sql.DB) error { return work(ctx, inFile{db}) })
}

func (u unchanged) once(context.Context, func(context.Context, querier) error) error {
	return fmt.Errorf("%s is only read", string(u))
}

func (u unchanged) write(ctx context.Context, work func(context.Context, querier) error) error {
	return u.once(ctx, work)
}

// Name implements contextgc.Ledger.
func (l *Ledger) Name() string { return l.name }

// Shared implements contextgc.Ledger.
func (l *Ledger) Shared() bool { return l.shared() }

// Lost implements contextgc.Ledger. A database that is away is not lost: its content comes back with it.
func (l *Ledger) Lost() bool { return l.file != nil && l.file.Lost() }

// Shrink implements contextgc.Ledger. In a file it needs as much free space as the ledger has content. A server does so by
// itself.
func (l *Ledger) Shrink(ctx context.Context) error {
	if l.file == nil {
		return nil
	}
	if _, err := l.file.DB().ExecContext(ctx, `VACUUM`); err != nil {
		return fmt.Errorf("shrink the ledger: %w", err)
	}
	return nil
}

// Close implements contextgc.Ledger.
func (l *Ledger) Close() error {
	switch {
	case l.db != nil:
		return l.db.Close()
	case l.file != nil:
		return l.file.Close()
	}
	return nil
}

// failed returns an error with what was attempted: what in a file, or more in a database.
func (l *Ledger) failed(err error, what, more string) error {
	switch {
	case err == nil:
		return nil
	case l.db != nil:
		what = more
	case l.file == nil:
		what = "read the ledger " + l.name
	}
	return fmt.Errorf("%s: %w", what, err)
}

var _ contextgc.Ledger = (*Ledger)(nil)
