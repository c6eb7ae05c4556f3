package contextgc

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"modernc.org/sqlite" // registers the driver, too
	sqlite3 "modernc.org/sqlite/lib"
)

// StoreSettings say where a store is. Only File is needed.
type StoreSettings struct {
	File string
	// Report is told that a damaged file was set aside. Nil means nobody is told.
	Report func(message string)
	Now    func() time.Time // nil means time.Now
}

// Store is the ledger: segments, their texts, a full-text index, and what the
// planner decided. It is one SQLite file in WAL mode that several processes may
// have open. Whatever a method acknowledged survives kill -9. It is safe for
// concurrent use.
type Store struct {
	settings StoreSettings
	path     string
	db       atomic.Pointer[sql.DB]

	// writing holds a token while one of us writes, so that writers wait in a fair
	// queue instead of polling SQLite's lock.
	writing chan struct{}
}

// lockPatience is the longest wait for other writers.
const lockPatience = 10 * time.Second

// A text is stored once, whoever has it. seq orders segments by arrival and is never
// reused. words is an index without texts of its own; its rowid is the segment's seq.
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
CREATE INDEX IF NOT EXISTS segments_session ON segments (session) WHERE session != '';
CREATE TABLE IF NOT EXISTS usage (
	session TEXT PRIMARY KEY, api TEXT NOT NULL, model TEXT NOT NULL, calls INTEGER NOT NULL, input INTEGER NOT NULL,
	read INTEGER NOT NULL, written INTEGER NOT NULL, output INTEGER NOT NULL, before REAL NOT NULL, after REAL NOT NULL,
	cleared INTEGER NOT NULL, updated INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS marks (
	seq INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, project TEXT NOT NULL, kind TEXT NOT NULL,
	detail TEXT NOT NULL, created INTEGER NOT NULL);`

// Open opens a store, or begins one. A damaged file is kept aside, reported, and a
// new one begins.
func Open(s StoreSettings) (*Store, error) {
	path, err := filepath.Abs(s.File)
	if err != nil {
		return nil, err
	}
	if s.Report == nil {
		s.Report = func(string) {}
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	st := &Store{settings: s, path: path, writing: make(chan struct{}, 1)}
	err = st.open()
	if isDamaged(err) {
		err = st.startOver()
	}
	if err != nil {
		return nil, fmt.Errorf("open the ledger %s: %w", path, err)
	}
	return st, nil
}

func (s *Store) open() error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	// SQLite would create a file that everybody can read.
	created, err := os.OpenFile(s.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := created.Close(); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", dsn(s.path))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(8)
	if err := prepare(db); err != nil {
		_ = db.Close()
		return err
	}
	s.db.Store(db)
	return nil
}

// prepare makes the tables and reads the two that everything depends on, so that
// damage shows at once.
func prepare(db *sql.DB) error {
	if _, err := db.Exec(tables); err != nil {
		return err
	}
	var n int
	return db.QueryRow(`SELECT (SELECT COUNT(*) FROM segments WHERE seq < 1000) + (SELECT COUNT(*) FROM clearings)`).Scan(&n)
}

// dsn names the file to the driver. Transactions take the write lock at once: one
// that reads first and writes later can fail when two processes do so.
func dsn(path string) string {
	q := url.Values{
		"_pragma": {fmt.Sprintf("busy_timeout(%d)", lockPatience.Milliseconds()), "journal_mode(WAL)", "synchronous(NORMAL)"},
		"_txlock": {"immediate"},
	}
	return "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() + "?" + q.Encode()
}

// Path returns the absolute path of the store's file.
func (s *Store) Path() string { return s.path }

// Close releases the file.
func (s *Store) Close() error { return s.db.Load().Close() }

// write does work in one transaction while nobody else of us writes. Damage that
// shows now sets the file aside, and the work is done in a new one.
func (s *Store) write(ctx context.Context, work func(tx *sql.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	select {
	case s.writing <- struct{}{}:
		defer func() { <-s.writing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	err := s.transact(ctx, work)
	if isDamaged(err) {
		if err = s.startOver(); err == nil {
			err = s.transact(ctx, work)
		}
	}
	return err
}

func (s *Store) transact(ctx context.Context, work func(tx *sql.Tx) error) error {
	tx, err := s.db.Load().BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := work(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// startOver moves a damaged file out of the way and begins a new one.
func (s *Store) startOver() error {
	if db := s.db.Load(); db != nil {
		_ = db.Close()
	}
	aside := fmt.Sprintf("%s.damaged-%s", s.path, s.settings.Now().UTC().Format("20060102-150405.000"))
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(s.path+suffix, aside+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	s.settings.Report("the ledger was damaged; it is kept as " + aside + " and a new one begins")
	return s.open()
}

func isDamaged(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	primary := e.Code() & 0xff // extended codes keep the kind in the low byte
	return primary == sqlite3.SQLITE_CORRUPT || primary == sqlite3.SQLITE_NOTADB
}
