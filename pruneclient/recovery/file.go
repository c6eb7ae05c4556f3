package recovery

import (
	"context"
	"crypto/sha256"
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

// file is the shelf that outlives the process: an SQLite database in WAL mode,
// which survives kill -9 and may be open in several processes.
type file struct {
	limits  Settings
	path    string
	db      atomic.Pointer[sql.DB]
	evicted atomic.Int64
	clock   *clock

	// writing holds a token while one of us writes: waiting for it ends with the
	// waiter's context, and it is fair where SQLite polls. seen belongs to its holder.
	writing chan struct{}
	seen    int64 // seq of the newest id known from the file
}

// lockPatience is the longest wait for whoever else is writing, here and in other
// processes together.
const lockPatience = 2 * time.Second

// seq orders ids by age and is never reused, so a process can tell what others
// have added since it last looked. The second index lets SUM(bytes) skip the
// bodies.
const schema = `
CREATE TABLE IF NOT EXISTS texts (hash BLOB PRIMARY KEY, bytes INTEGER NOT NULL, body BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS items (
	seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, hash BLOB NOT NULL, created_ms INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS items_hash ON items (hash);
CREATE INDEX IF NOT EXISTS texts_size ON texts (hash, bytes);`

func openFile(s Settings) (*file, error) {
	path, err := filepath.Abs(s.File)
	if err != nil {
		return nil, err
	}
	f := &file{limits: s, path: path, clock: newClock(s.TTL), writing: make(chan struct{}, 1)}
	if err := f.open(); err != nil {
		if !isDamaged(err) {
			return nil, err
		}
		if err := f.startOver(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *file) open() error {
	// SQLite would create it readable for all; originals are nobody else's business.
	created, err := os.OpenFile(f.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := created.Close(); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", dsn(f.path))
	if err != nil {
		return err
	}
	f.db.Store(db)
	if err := f.prepare(db); err != nil {
		_ = db.Close()
		return err
	}
	return nil
}

// prepare makes the tables and reads each of them once, so that a damaged file
// shows now and not at the first recovery.
func (f *file) prepare(db *sql.DB) error {
	if _, err := db.Exec(schema); err != nil {
		return err
	}
	now := f.limits.Now()
	if _, err := f.stats(now); err != nil {
		return err
	}
	return f.write(context.Background(), func(tx *sql.Tx) error { return f.dropExpired(tx, now) })
}

// dsn names the file to the driver. Transactions take the write lock at once:
// one that reads first and writes later can fail half way when shared.
func dsn(path string) string {
	q := url.Values{
		"_pragma": {fmt.Sprintf("busy_timeout(%d)", lockPatience.Milliseconds()), "journal_mode(WAL)", "synchronous(NORMAL)"},
		"_txlock": {"immediate"},
	}
	return "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() + "?" + q.Encode()
}

func (f *file) put(ctx context.Context, i item, text string) error {
	return f.alone(ctx, func(ctx context.Context) error {
		insert := func() error { return f.write(ctx, func(tx *sql.Tx) error { return f.insert(tx, i, text) }) }
		err := insert()
		if isDamaged(err) {
			if err = f.startOver(); err == nil {
				err = insert()
			}
		}
		return err
	})
}

// alone does work while nobody else of us writes, or fails when it is not its
// turn in time. The work's context ends with lockPatience, too.
func (f *file) alone(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	select {
	case f.writing <- struct{}{}:
		defer func() { <-f.writing }()
		return work(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *file) insert(tx *sql.Tx, i item, text string) error {
	if err := f.dropExpired(tx, i.created); err != nil {
		return err
	}
	if _, err := tx.Exec(`INSERT OR IGNORE INTO texts (hash, bytes, body) VALUES (?, ?, ?)`,
		i.hash[:], len(text), []byte(text)); err != nil {
		return err
	}
	if _, err := tx.Exec(`INSERT INTO items (id, hash, created_ms) VALUES (?, ?, ?)`,
		i.id, i.hash[:], i.created.UnixMilli()); err != nil {
		return err
	}
	f.clock.start(i.id, i.created)
	return f.makeRoom(tx)
}

// get takes no turn: SQLite reads while others write.
func (f *file) get(ctx context.Context, id string, now time.Time) (string, bool, error) {
	var created int64
	var hash, body []byte
	db := f.db.Load()
	err := db.QueryRowContext(ctx, `SELECT created_ms, hash, body FROM items JOIN texts USING (hash) WHERE id = ?`, id).
		Scan(&created, &hash, &body)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", false, nil
	case isDamaged(err):
		return "", false, f.alone(ctx, func(context.Context) error {
			if f.db.Load() != db {
				return nil // somebody was first
			}
			return f.startOver()
		})
	case err != nil:
		return "", false, err
	}
	f.clock.see(id, time.UnixMilli(created), now)
	if f.clock.over(id, now) {
		return "", false, nil
	}
	if sum := sha256.Sum256(body); string(sum[:]) != string(hash) {
		f.limits.Report("an original in the recovery store is damaged and cannot be recovered")
		return "", false, nil
	}
	return string(body), true, nil
}

// stats takes no lock, so that a health check waits for nobody; it goes by the
// wall clock, which is near enough for counting.
func (f *file) stats(now time.Time) (Stats, error) {
	s := Stats{Evicted: f.evicted.Load()}
	err := f.db.Load().QueryRow(`SELECT (SELECT COUNT(*) FROM items WHERE created_ms > ?),
		COUNT(*), COALESCE(SUM(bytes), 0) FROM texts`, now.Add(-f.limits.TTL).UnixMilli()).
		Scan(&s.Items, &s.Texts, &s.Bytes)
	return s, err
}

func (f *file) close() error { return f.db.Load().Close() }

func (f *file) write(ctx context.Context, do func(tx *sql.Tx) error) error {
	tx, err := f.db.Load().BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err = do(tx); err == nil {
		err = tx.Commit()
	} else {
		_ = tx.Rollback()
	}
	if err != nil {
		f.seen = 0 // what the clock was told in there may not have happened: look again
	}
	return err
}

// dropExpired first learns what other processes have added.
func (f *file) dropExpired(tx *sql.Tx, now time.Time) error {
	rows, err := tx.Query(`SELECT seq, id, created_ms FROM items WHERE seq > ? ORDER BY seq`, f.seen)
	if err != nil {
		return err
	}
	for rows.Next() {
		var id string
		var created int64
		if err := rows.Scan(&f.seen, &id, &created); err != nil {
			return errors.Join(err, rows.Close())
		}
		f.clock.see(id, time.UnixMilli(created), now)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for _, id := range f.clock.expired(now) {
		if err := f.remove(tx, id); err != nil {
			return err
		}
	}
	return nil
}

func (f *file) makeRoom(tx *sql.Tx) error {
	for {
		var items int
		var bytes int64
		var oldest string
		if err := tx.QueryRow(`SELECT (SELECT COUNT(*) FROM items), (SELECT SUM(bytes) FROM texts), id
			FROM items ORDER BY seq LIMIT 1`).Scan(&items, &bytes, &oldest); err != nil {
			return err
		}
		if items <= f.limits.MaxItems && bytes <= f.limits.MaxBytes {
			return nil
		}
		if err := f.remove(tx, oldest); err != nil {
			return err
		}
		f.evicted.Add(1)
	}
}

// remove drops an id, and its text when no other id leads there.
func (f *file) remove(tx *sql.Tx, id string) error {
	f.clock.stop(id)
	var hash []byte
	err := tx.QueryRow(`DELETE FROM items WHERE id = ? RETURNING hash`, id).Scan(&hash)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // another process was first
	}
	if err != nil {
		return err
	}
	_, err = tx.Exec(`DELETE FROM texts WHERE hash = ?1 AND NOT EXISTS (SELECT 1 FROM items WHERE hash = ?1)`, hash)
	return err
}

// startOver moves a damaged file out of the way and begins a new one.
func (f *file) startOver() error {
	if db := f.db.Load(); db != nil {
		_ = db.Close()
	}
	aside := fmt.Sprintf("%s.damaged-%s", f.path, f.limits.Now().Format("20060102-150405.000"))
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(f.path+suffix, aside+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	f.limits.Report("the recovery store was damaged; it is kept as " + aside + " and a new one begins")
	f.clock.clear()
	f.seen = 0
	return f.open()
}

func isDamaged(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	primary := e.Code() & 0xff // extended codes keep the kind in the low byte
	return primary == sqlite3.SQLITE_CORRUPT || primary == sqlite3.SQLITE_NOTADB
}
