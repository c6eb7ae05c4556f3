package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	_ "embed" // for the tables
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// originals implements recovery.Backend in a file.
type originals struct {
	limits  recovery.Settings
	file    *file
	evicted atomic.Int64
	clock   *clock
	seen    atomic.Int64 // seq of the newest id read from the file
}

// originalsPatience is the maximum wait for all other writers together, in this process and in others.
const originalsPatience = 2 * time.Second

// originalsTables have times in milliseconds since 1970. seq orders ids by age and is never reused, so a process can find the ids
// that others have added since it last looked. The second index lets SUM(bytes) skip the bodies.
//
//go:embed migrations/sqlite/originals.sql
var originalsTables string

// OpenOriginals returns a store whose texts stand in a file, also after a restart. It fails if the settings are invalid, or if the
// file can neither be used nor renamed.
func OpenOriginals(path string, s recovery.Settings) (*recovery.Store, error) {
	return recovery.OpenIn(s, func(s recovery.Settings) (recovery.Backend, error) {
		o := &originals{limits: s, clock: newClock(s.TTL)}
		var err error
		o.file, err = openFile(fileSettings{
			Path: path, Name: "the recovery store", Patience: originalsPatience, Prepare: o.prepare, Damaged: o.damaged, Now: s.Now,
		})
		if err != nil {
			return nil, fmt.Errorf("open recovery store %s: %w", path, err)
		}
		return o, nil
	})
}

// prepare creates the tables and reads each of them once, so that a damaged file is
// detected now rather than at the first recovery.
func (o *originals) prepare(db *sql.DB) error {
	if _, err := db.Exec(originalsTables); err != nil {
		return err
	}
	now := o.limits.Now()
	ctx := context.Background()
	if _, err := o.count(ctx, inFile{db}, now); err != nil {
		return err
	}
	return transact(ctx, db, func(ctx context.Context, q querier) error { return o.dropExpired(ctx, q, now) })
}

// damaged resets the state read from the damaged file.
func (o *originals) damaged(report string) {
	o.limits.Report(report)
	o.clock.clear()
	o.seen.Store(0)
}

// Put implements recovery.Backend. It waits for a locked file until ctx ends, but no longer than lockPatience.
func (o *originals) Put(ctx context.Context, i recovery.Item, text string) error {
	i = i.Of(agent.SubjectOf(ctx))
	err := o.file.write(ctx, func(ctx context.Context, q querier) error { return o.insert(ctx, q, i, text) })
	if err != nil {
		o.seen.Store(0) // the transaction may have been rolled back: read all ids again
	}
	return err
}

func (o *originals) insert(ctx context.Context, q querier, i recovery.Item, text string) error {
	if err := o.dropExpired(ctx, q, i.Created); err != nil {
		return err
	}
	added, err := q.exec(ctx, `INSERT INTO items (id, hash, created_ms) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING`, i.ID, i.Hash, i.Created.UnixMilli())
	if err != nil {
		return err
	}
	if added == 0 {
		return recovery.ErrTaken
	}
	if _, err := q.exec(ctx, `INSERT INTO texts (hash, bytes, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, i.Hash, len(text), []byte(text)); err != nil {
		return err
	}
	o.clock.start(i.ID, i.Created)
	return o.makeRoom(ctx, q, i.ID)
}

// Get implements recovery.Backend. It takes no lock: SQLite allows reads while others write.
func (o *originals) Get(ctx context.Context, id string, now time.Time) (string, bool, error) {
	whose := agent.SubjectOf(ctx)
	id = recovery.Item{ID: id}.Of(whose).ID
	var created int64
	var hash [sha256.Size]byte
	var body []byte
	db := o.file.DB()
	found, err := first(ctx, inFile{db}, []any{&created, &hash, &body}, `SELECT created_ms, hash, body FROM items JOIN texts USING (hash) WHERE id = $1`, id)
	if err != nil || !found {
		return "", false, o.file.ReplaceDamaged(ctx, db, err)
	}
	o.clock.see(id, time.UnixMilli(created), now)
	if o.clock.over(id, now) {
		return "", false, nil
	}
	if (recovery.Item{Hash: sha256.Sum256(body)}).Of(whose).Hash != hash {
		o.limits.Report("an original in the recovery store is damaged and cannot be recovered")
		return "", false, nil
	}
	return string(body), true, nil
}

// Stats implements recovery.Backend. It takes no lock, so that a health check never waits. It uses the wall clock, which is
// accurate enough for counting.
func (o *originals) Stats(now time.Time) (recovery.Stats, error) {
	return o.count(context.Background(), inFile{o.file.DB()}, now)
}

func (o *originals) count(ctx context.Context, q querier, now time.Time) (recovery.Stats, error) {
	s := recovery.Stats{Evicted: o.evicted.Load()}
	_, err := first(ctx, q, []any{&s.Items, &s.Texts, &s.Bytes}, `SELECT (SELECT COUNT(*) FROM items WHERE created_ms > $1),
		COUNT(*), COALESCE(SUM(bytes), 0) FROM texts`, now.Add(-o.limits.TTL).UnixMilli())
	return s, err
}

// Close implements recovery.Backend.
func (o *originals) Close() error { return o.file.Close() }

// dropExpired drops expired ids, after it has read the ids that other processes added.
func (o *originals) dropExpired(ctx context.Context, q querier, now time.Time) error {
	seen := o.seen.Load()
	newest := seen
	err := q.each(ctx, func(r row) error {
		var id string
		var created int64
		if err := r(&newest, &id, &created); err != nil {
			return err
		}
		o.clock.see(id, time.UnixMilli(created), now)
		return nil
	}, `SELECT seq, id, created_ms FROM items WHERE seq > $1 ORDER BY seq`, seen)
	o.seen.CompareAndSwap(seen, newest) // unchanged if a failed write has reset it in the meantime
	if err != nil {
		return err
	}
	for _, id := range o.clock.expired(now) {
		if err := o.remove(ctx, q, id); err != nil {
			return err
		}
	}
	return nil
}

// oldestOfMost finds the oldest id of the subject, which stands before the slash, that has most ids or bytes beside the id just put.
const oldestOfMost = `SELECT i.id, MIN(seq) FROM (SELECT MIN(seq) AS seq, COUNT(*) AS n, hash FROM items WHERE id <> $2 GROUP BY hash) JOIN items i USING (seq)
	JOIN texts t ON t.hash = i.hash GROUP BY substr(i.id, 1, instr(i.id, '/')) ORDER BY CASE WHEN $1 THEN SUM(n) ELSE SUM(bytes) END DESC, 2 LIMIT 1`

func (o *originals) makeRoom(ctx context.Context, q querier, put string) error {
	for {
		var items int
		var bytes int64
		var oldest string
		var subjects bool
		if _, err := first(ctx, q, []any{&items, &bytes, &oldest, &subjects}, `SELECT (SELECT COUNT(*) FROM items), (SELECT SUM(bytes) FROM texts), id,
			(SELECT MIN(id) FROM items) < 'prn' FROM items ORDER BY seq LIMIT 1`); err != nil {
			return err
		}
		if items <= o.limits.MaxItems && bytes <= o.limits.MaxBytes {
			return nil
		}
		if subjects {
			var seq int64
			if _, err := first(ctx, q, []any{&oldest, &seq}, oldestOfMost, items > o.limits.MaxItems, put); err != nil {
				return err
			}
		}
		if err := o.remove(ctx, q, oldest); err != nil {
			return err
		}
		o.evicted.Add(1)
	}
}

// remove deletes an id, and its text unless another id has the same text.
func (o *originals) remove(ctx context.Context, q querier, id string) error {
	o.clock.stop(id)
	var hash []byte
	if found, err := first(ctx, q, []any{&hash}, `DELETE FROM items WHERE id = $1 RETURNING hash`, id); err != nil || !found {
		return err // or another process has already deleted it
	}
	_, err := q.exec(ctx, `DELETE FROM texts WHERE hash = $1 AND NOT EXISTS (SELECT 1 FROM items WHERE hash = $1)`, hash)
	return err
}
