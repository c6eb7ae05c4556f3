package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/mcp-pruner/mcp-pruner/tools/sqlfile"
)

// fileSettings names a file and the functions that prepare and report on it.
type fileSettings struct {
	Path     string
	Name     string        // in reports, such as "the ledger"
	Patience time.Duration // the longest wait for other writers, here and in other processes

	// Prepare creates the tables of a file that was just opened, and reads them so that damage is found at once.
	Prepare func(db *sql.DB) error
	// Damaged is called when a damaged file was moved, before a new one is opened.
	Damaged func(report string)
	Now     func() time.Time // nil: time.Now
}

// file keeps data in one SQLite file in WAL mode. Several processes may have it open, and committed data survives kill -9. A
// damaged file is moved aside and replaced by a new one. It is safe for concurrent use.
type file struct {
	settings fileSettings
	db       atomic.Pointer[sql.DB]
	first    os.FileInfo // of the file that openFile opened
	content  atomic.Pointer[identity]

	// writing holds a token while this process writes. Waiting for the token ends with the waiter's context and is
	// fair, unlike SQLite's polling for its lock.
	writing chan struct{}

	// locked is when a writer of this process may try again, after another process has held the lock for all of a writer's patience; a
	// request that waits each time would be late each time. lasting is how long it waits then. Both belong to the holder of writing.
	locked  time.Time
	lasting time.Duration
}

// How long writers leave a locked file alone: at first, and at most.
const (
	lockedFirst = time.Second
	lockedMost  = 30 * time.Second
)

// errLocked is the error of a writer that does not wait.
var errLocked = errors.New("another process holds its lock; it is tried again within half a minute")

// openFile opens a file. If there is none, it creates one that only its owner can read.
func openFile(s fileSettings) (*file, error) {
	path, err := filepath.Abs(s.Path)
	if err != nil {
		return nil, err
	}
	s.Path = path
	if s.Now == nil {
		s.Now = time.Now
	}
	f := &file{settings: s, writing: make(chan struct{}, 1)}
	if err = f.open(); isDamaged(err) {
		err = f.startOver()
	}
	if err == nil {
		f.first, err = os.Stat(path)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Lost reports that the file which openFile opened is no longer at its path, or not with its content: it was removed, renamed,
// truncated, or replaced, also in place, or by a new one after damage. Its content cannot be read by other processes any more.
func (f *file) Lost() bool {
	now, err := os.Stat(f.settings.Path)
	return err != nil || !os.SameFile(f.first, now) || f.content.Load().lost()
}

func (f *file) open() error {
	// SQLite itself would create a file that everybody can read.
	created, err := os.OpenFile(f.settings.Path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	f.content.Store(&identity{header: created})
	db, err := sql.Open("sqlite", f.source())
	if err != nil {
		return errors.Join(err, created.Close())
	}
	f.db.Store(db)
	// busy_timeout does not cover the change of a new file's journal mode: when several open the file at the same time,
	// SQLite fails all but one at once, because waiting for each other's read locks would be a deadlock.
	patience := time.Now().Add(f.settings.Patience)
	for err = f.settings.Prepare(db); isCode(err, sqlite3.SQLITE_BUSY) && time.Now().Before(patience); err = f.settings.Prepare(db) {
		time.Sleep(5 * time.Millisecond)
	}
	if err != nil {
		_ = f.Close()
		return err
	}
	identify(db)
	return nil
}

// source returns the driver's name of the file. Transactions take the write lock at once, because those that read
// first and write later can fail if two processes do so at the same time.
func (f *file) source() string {
	q := url.Values{
		"mode":    {"rw"}, // a connection that is opened after the file was removed must not create another file
		"_pragma": {fmt.Sprintf("busy_timeout(%d)", f.settings.Patience.Milliseconds()), "journal_mode(WAL)", "synchronous(NORMAL)"},
		"_txlock": {"immediate"},
	}
	return sqlfile.Name(f.settings.Path, q)
}

// DB returns the database, which is replaced after damage. Readers need not wait for writers.
func (f *file) DB() *sql.DB { return f.db.Load() }

// Close releases the file.
func (f *file) Close() error { return errors.Join(f.DB().Close(), f.content.Load().header.Close()) }
func (f *file) shared() bool { return false }

func (f *file) read(ctx context.Context, work func(context.Context, querier) error) error {
	return work(ctx, inFile{f.DB()})
}

// once implements [place]. Writers wait for their turn, also with one statement.
func (f *file) once(ctx context.Context, work func(context.Context, querier) error) error {
	return f.write(ctx, work)
}

// write implements [place]. Transactions take turns in this process. It fails if ctx or Patience ends before its turn. If the file
// turns out to be damaged, the work is repeated in a new file.
func (f *file) write(ctx context.Context, work func(context.Context, querier) error) error {
	return f.alone(ctx, func(ctx context.Context) error {
		if time.Now().Before(f.locked) {
			return errLocked
		}
		began := time.Now()
		err := transact(ctx, f.DB(), work)
		f.noteLock(err, time.Since(began))
		if isDamaged(err) {
			if err = f.startOver(); err == nil {
				err = transact(ctx, f.DB(), work)
			}
		}
		return err
	})
}

// noteLock notes whether a transaction failed because another process held the lock while it waited.
func (f *file) noteLock(err error, waited time.Duration) {
	busy := isCode(err, sqlite3.SQLITE_BUSY) || isCode(err, sqlite3.SQLITE_INTERRUPT) || errors.Is(err, context.DeadlineExceeded)
	if !busy || waited < lockedFirst/4 {
		f.lasting = 0
		return
	}
	f.lasting = min(max(2*f.lasting, lockedFirst), lockedMost)
	f.locked = time.Now().Add(f.lasting)
}

// ReplaceDamaged replaces the file if err, from reading db, means that db is damaged, unless another goroutine has
// already replaced it. It returns any other err.
func (f *file) ReplaceDamaged(ctx context.Context, db *sql.DB, err error) error {
	if !isDamaged(err) {
		return err
	}
	return f.alone(ctx, func(context.Context) error {
		if f.DB() != db {
			return nil
		}
		return f.startOver()
	})
}

func (f *file) alone(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, f.settings.Patience)
	defer cancel()
	select {
	case f.writing <- struct{}{}:
		defer func() { <-f.writing }()
		return work(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// transact does work in one transaction, which the end of ctx rolls back; the statements need not watch for it.
func transact(ctx context.Context, db *sql.DB, work func(context.Context, querier) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := work(context.WithoutCancel(ctx), inFile{tx}); err != nil {
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}

// hasColumn asks whether a table has a column, which files of earlier versions may lack.
const hasColumn = `SELECT EXISTS (SELECT 1 FROM pragma_table_info($1) WHERE name = $2)`

// addColumns adds the columns that a table lacks, by their names; each value is a column's definition.
func addColumns(db *sql.DB, table string, columns map[string]string) error {
	for name, definition := range columns {
		var has bool
		if err := db.QueryRow(hasColumn, table, name).Scan(&has); err != nil {
			return err
		}
		if has {
			continue
		}
		if _, err := db.Exec("ALTER TABLE " + table + " ADD COLUMN " + name + " " + definition); err != nil {
			if e := db.QueryRow(hasColumn, table, name).Scan(&has); e != nil || !has { // else another process has added it just now
				return err
			}
		}
	}
	return nil
}

// startOver moves a damaged file aside and creates a new one.
func (f *file) startOver() error {
	_ = f.Close()
	aside := fmt.Sprintf("%s.damaged-%s", f.settings.Path, f.settings.Now().UTC().Format("20060102-150405.000"))
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(f.settings.Path+suffix, aside+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	f.settings.Damaged(f.settings.Name + " was damaged; it is kept as " + aside + " and a new one begins")
	return f.open()
}

func isDamaged(err error) bool { return isCode(err, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) }

func isCode(err error, codes ...int) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && slices.Contains(codes, e.Code()&0xff) // extended codes keep the kind in the low byte
}
