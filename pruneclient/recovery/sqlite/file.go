// Package sqlite keeps the texts of a recovery store in one SQLite file, which several processes may have open.
package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/tools/sqlfile"
	"github.com/mcp-pruner/mcp-pruner/tools/subject"
)

// file is the backend that survives the process: one SQLite file, which several processes
// may have open.
type file struct {
	limits  recovery.Settings
	store   *sqlfile.File
	evicted atomic.Int64
	clock   *clock
	seen    atomic.Int64 // seq of the newest id read from the file
}

// lockPatience is the maximum wait for all other writers together, in this process and in
// others.
const lockPatience = 2 * time.Second

// seq orders ids by age and is never reused, so a process can find the ids that others have
// added since it last looked. The second index lets SUM(bytes) skip the bodies.
const schema = `
CREATE TABLE IF NOT EXISTS texts (hash BLOB PRIMARY KEY, bytes INTEGER NOT NULL, body BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS items (
	seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, hash BLOB NOT NULL, created_ms INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS items_hash ON items (hash);
CREATE INDEX IF NOT EXISTS texts_size ON texts (hash, bytes);`

// Open returns a store whose texts stand in a file, also after a restart. It fails if the settings are invalid, or if the
// file can neither be used nor renamed.
func Open(path string, s recovery.Settings) (*recovery.Store, error) {
	return recovery.OpenIn(s, func(s recovery.Settings) (recovery.Backend, error) {
		f := &file{limits: s, clock: newClock(s.TTL)}
		var err error
		f.store, err = sqlfile.Open(sqlfile.Settings{
			Path: path, Name: "the recovery store", Patience: lockPatience, Prepare: f.prepare, Damaged: f.damaged, Now: s.Now,
		})
		if err != nil {
			return nil, fmt.Errorf("open recovery store %s: %w", path, err)
		}
		return f, nil
	})
}

// prepare creates the tables and reads each of them once, so that a damaged file is
// detected now rather than at the first recovery.
func (f *file) prepare(db *sql.DB) error {
	if _, err := db.Exec(schema); err != nil {
		return err
	}
	now := f.limits.Now()
	if _, err := f.count(db, now); err != nil {
		return err
	}
	return sqlfile.Transact(context.Background(), db, func(tx *sql.Tx) error { return f.dropExpired(tx, now) })
}

// damaged resets the state read from the damaged file.
func (f *file) damaged(report string) {
	f.limits.Report(report)
	f.clock.clear()
	f.seen.Store(0)
}

// Put implements recovery.Backend. It waits for a locked file until ctx ends, but no longer than lockPatience.
func (f *file) Put(ctx context.Context, i recovery.Item, text string) error {
	i = i.Of(subject.Of(ctx))
	err := f.store.Write(ctx, func(tx *sql.Tx) error { return f.insert(tx, i, text) })
	if err != nil {
		f.seen.Store(0) // the transaction may have been rolled back: read all ids again
	}
	return err
}

func (f *file) insert(tx *sql.Tx, i recovery.Item, text string) error {
	if err := f.dropExpired(tx, i.Created); err != nil {
		return err
	}
	var taken bool
	if err := tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM items WHERE id = ?)`, i.ID).Scan(&taken); err != nil {
		return err
	}
	if taken {
		return recovery.ErrTaken
	}
	if _, err := tx.Exec(`INSERT OR IGNORE INTO texts (hash, bytes, body) VALUES (?, ?, ?)`,
		i.Hash[:], len(text), []byte(text)); err != nil {
		return err
	}
	if _, err := tx.Exec(`INSERT INTO items (id, hash, created_ms) VALUES (?, ?, ?)`,
		i.ID, i.Hash[:], i.Created.UnixMilli()); err != nil {
		return err
	}
	f.clock.start(i.ID, i.Created)
	return f.makeRoom(tx)
}

// Get implements recovery.Backend. It takes no lock: SQLite allows reads while others write.
func (f *file) Get(ctx context.Context, id string, now time.Time) (string, bool, error) {
	owner := subject.Of(ctx)
	id = recovery.Item{ID: id}.Of(owner).ID
	var created int64
	var hash, body []byte
	db := f.store.DB()
	err := db.QueryRowContext(ctx, `SELECT created_ms, hash, body FROM items JOIN texts USING (hash) WHERE id = ?`, id).
		Scan(&created, &hash, &body)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	if err != nil {
		return "", false, f.store.ReplaceDamaged(ctx, db, err)
	}
	f.clock.see(id, time.UnixMilli(created), now)
	if f.clock.over(id, now) {
		return "", false, nil
	}
	if sum := (recovery.Item{Hash: sha256.Sum256(body)}).Of(owner).Hash; string(sum[:]) != string(hash) {
		f.limits.Report("an original in the recovery store is damaged and cannot be recovered")
		return "", false, nil
	}
	return string(body), true, nil
}

// Stats implements recovery.Backend. It takes no lock, so that a health check never waits. It uses the wall clock, which is
// accurate enough for counting.
func (f *file) Stats(now time.Time) (recovery.Stats, error) { return f.count(f.store.DB(), now) }

func (f *file) count(db *sql.DB, now time.Time) (recovery.Stats, error) {
	s := recovery.Stats{Evicted: f.evicted.Load()}
	err := db.QueryRow(`SELECT (SELECT COUNT(*) FROM items WHERE created_ms > ?),
		COUNT(*), COALESCE(SUM(bytes), 0) FROM texts`, now.Add(-f.limits.TTL).UnixMilli()).
		Scan(&s.Items, &s.Texts, &s.Bytes)
	return s, err
}

// Close implements recovery.Backend.
func (f *file) Close() error { return f.store.Close() }

// dropExpired drops expired ids, after it has read the ids that other processes added.
func (f *file) dropExpired(tx *sql.Tx, now time.Time) error {
	seen := f.seen.Load()
	rows, err := tx.Query(`SELECT seq, id, created_ms FROM items WHERE seq > ? ORDER BY seq`, seen)
	if err != nil {
		return err
	}
	newest := seen
	for rows.Next() {
		var id string
		var created int64
		if err := rows.Scan(&newest, &id, &created); err != nil {
			return errors.Join(err, rows.Close())
		}
		f.clock.see(id, time.UnixMilli(created), now)
	}
	f.seen.CompareAndSwap(seen, newest) // unchanged if a failed write has reset it in the meantime
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

// remove deletes an id, and its text unless another id has the same text.
func (f *file) remove(tx *sql.Tx, id string) error {
	f.clock.stop(id)
	var hash []byte
	err := tx.QueryRow(`DELETE FROM items WHERE id = ? RETURNING hash`, id).Scan(&hash)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // another process has already deleted it
	}
	if err != nil {
		return err
	}
	_, err = tx.Exec(`DELETE FROM texts WHERE hash = ?1 AND NOT EXISTS (SELECT 1 FROM items WHERE hash = ?1)`, hash)
	return err
}
