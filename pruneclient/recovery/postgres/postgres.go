// Package postgres keeps the texts of a recovery store in a database that replicas share. Each subject has texts of its own,
// and the limits of a store apply to each subject.
package postgres

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/tools/postgres"
	"github.com/mcp-pruner/mcp-pruner/tools/subject"
)

// MaxItems is the default number of ids of one subject: in a database bytes are the limit that counts.
const MaxItems = 1_000_000

// backend implements recovery.Backend.
type backend struct {
	db      *postgres.DB
	limits  recovery.Settings
	ownTime bool // the clock of the settings counts, as in tests, and not the database's
	evicted atomic.Int64

	mu    sync.Mutex
	rooms map[string]room // by subject
	stats recovery.Stats
	asked time.Time // when stats were read
}

// room is the space in which this process may store for a subject without a look at what the others stored.
type room struct {
	items, bytes int64
}

// replicas is the number of processes for which a subject's room is divided. With more of them the limits may be exceeded
// for a moment.
const replicas = 16

// In returns a store in a database, which the store closes. The ages of ids are measured by the database's clock, which all
// replicas share.
func In(db *postgres.DB, s recovery.Settings) (*recovery.Store, error) {
	b := &backend{db: db, ownTime: s.Now != nil, rooms: make(map[string]room)}
	if s.MaxItems == 0 {
		s.MaxItems = MaxItems
	}
	return recovery.OpenIn(s, func(s recovery.Settings) (recovery.Backend, error) {
		b.limits = s
		return b, nil
	})
}

// at returns a time as an argument of a statement: NULL stands for the database's own time.
func (b *backend) at(now time.Time) *time.Time {
	if !b.ownTime {
		return nil
	}
	return &now
}

// Put implements recovery.Backend. As long as the subject has room it is one statement, which commits on its own.
func (b *backend) Put(ctx context.Context, i recovery.Item, text string) error {
	owner := subject.Of(ctx)
	insert := func(ctx context.Context, q postgres.Querier) error {
		_, err := q.Exec(ctx, `WITH `+postgres.AddText+`
			INSERT INTO mcp_pruner.originals (subject, id, hash, expires_at) VALUES ($1, $5, $2, COALESCE($6, now()) + $7 * interval '1 microsecond')`,
			owner, i.Hash[:], int64(len(text)), []byte(text), i.ID, b.at(i.Created), b.limits.TTL.Microseconds())
		return taken(err)
	}
	if b.takeRoom(owner, int64(len(text))) {
		return b.db.Read(ctx, insert)
	}
	return b.db.Write(ctx, func(ctx context.Context, q postgres.Querier) error {
		if _, err := q.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, "originals of "+owner); err != nil {
			return err
		}
		if err := b.dropExpired(ctx, q, i.Created); err != nil {
			return err
		}
		if err := insert(ctx, q); err != nil {
			return err
		}
		return b.makeRoom(ctx, q, owner)
	})
}

// taken returns recovery.ErrTaken for an error that says that the subject has the id.
func taken(err error) error {
	if postgres.Violates(err, "originals_pkey") {
		return recovery.ErrTaken
	}
	return err
}

// takeRoom reports whether a subject has room for a text, and takes it.
func (b *backend) takeRoom(owner string, bytes int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.rooms[owner]
	if r.items < 1 || r.bytes < bytes {
		return false
	}
	b.rooms[owner] = room{r.items - 1, r.bytes - bytes}
	return true
}

// expiredAtOnce bounds the ids dropped for one that is stored.
const expiredAtOnce = 2000

// dropExpired drops expired ids of all subjects, those that others are dropping excepted. They are deleted by their place: a
// join with so many ids would read the whole table.
func (b *backend) dropExpired(ctx context.Context, q postgres.Querier, now time.Time) error {
	rows, err := q.Query(ctx, `DELETE FROM mcp_pruner.originals WHERE ctid = ANY(ARRAY(SELECT ctid FROM mcp_pruner.originals
		WHERE expires_at <= COALESCE($1, now()) ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING subject, hash`, b.at(now), expiredAtOnce)
	if err != nil {
		return err
	}
	hashes := make(map[string][][]byte)
	var owner string
	var hash []byte
	if _, err = pgx.ForEachRow(rows, []any{&owner, &hash}, func() error {
		hashes[owner] = append(hashes[owner], hash)
		return nil
	}); err != nil {
		return err
	}
	for owner, list := range hashes {
		if _, err := q.Exec(ctx, postgres.DropTexts, owner, list); err != nil {
			return err
		}
	}
	return nil
}

// slack is the part of a limit that is freed when it is reached, so that not every text after that has to count the others.
const slack = 32

// makeRoom drops a subject's oldest ids until it is within the limits.
func (b *backend) makeRoom(ctx context.Context, q postgres.Querier, owner string) error {
	items, bytes, err := b.count(ctx, q, owner)
	if err != nil {
		return err
	}
	most, mostBytes := int64(b.limits.MaxItems), b.limits.MaxBytes
	for over := items > most || bytes > mostBytes; over; over = items > most || bytes > mostBytes {
		most, mostBytes = int64(b.limits.MaxItems-b.limits.MaxItems/slack), b.limits.MaxBytes-b.limits.MaxBytes/slack
		n := max(items-most, 1)
		if bytes > mostBytes {
			n = max(n, items*(bytes-mostBytes)/bytes/2)
		}
		if err := b.dropOldest(ctx, q, owner, n); err != nil {
			return err
		}
		if items, bytes, err = b.count(ctx, q, owner); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rooms[owner] = room{(int64(b.limits.MaxItems) - items) / replicas, (b.limits.MaxBytes - bytes) / replicas}
	return nil
}

func (b *backend) count(ctx context.Context, q postgres.Querier, owner string) (items, bytes int64, err error) {
	err = q.QueryRow(ctx, `SELECT COUNT(*), COALESCE((SELECT SUM(t.bytes) FROM mcp_pruner.texts t WHERE t.subject = $1 AND EXISTS
		(SELECT 1 FROM mcp_pruner.originals o WHERE o.subject = $1 AND o.hash = t.hash AND o.expires_at IS NOT NULL)), 0)::bigint
		FROM mcp_pruner.originals WHERE subject = $1 AND expires_at IS NOT NULL`, owner).Scan(&items, &bytes)
	return items, bytes, err
}

func (b *backend) dropOldest(ctx context.Context, q postgres.Querier, owner string, n int64) error {
	rows, err := q.Query(ctx, `DELETE FROM mcp_pruner.originals WHERE subject = $1 AND seq IN (SELECT seq FROM mcp_pruner.originals
		WHERE subject = $1 AND expires_at IS NOT NULL ORDER BY seq LIMIT $2) RETURNING hash`, owner, n)
	if err != nil {
		return err
	}
	hashes, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil {
		return err
	}
	b.evicted.Add(int64(len(hashes)))
	_, err = q.Exec(ctx, postgres.DropTexts, owner, hashes)
	return err
}

// Get implements recovery.Backend. Another subject's id takes the way of one that never was: it is looked up among the
// caller's own.
func (b *backend) Get(ctx context.Context, id string, now time.Time) (text string, ok bool, err error) {
	var hash, body []byte
	err = b.db.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
		return q.QueryRow(ctx, `SELECT t.hash, t.body FROM mcp_pruner.originals o JOIN mcp_pruner.texts t USING (subject, hash)
			WHERE o.subject = $1 AND o.id = $2 AND (o.expires_at IS NULL OR o.expires_at > COALESCE($3, now()))`,
			subject.Of(ctx), postgres.Text(id), b.at(now)).Scan(&hash, &body)
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", false, nil
	case err != nil:
		return "", false, err
	}
	if sum := sha256.Sum256(body); string(sum[:]) != string(hash) {
		b.limits.Report("an original in the database is damaged and cannot be recovered")
		return "", false, nil
	}
	return string(body), true, nil
}

// A health check must cost the database little.
const (
	statsFresh = 10 * time.Second // how long a count of all originals is used again
	counted    = 1000             // ids that are counted; with more of them all numbers are estimated from these
)

// Stats implements recovery.Backend. It counts the originals of all subjects. How many there are beyond those counted is what the
// database's own statistics say, in which some have expired.
func (b *backend) Stats(now time.Time) (recovery.Stats, error) {
	b.mu.Lock()
	recent := !b.ownTime && !b.asked.IsZero() && time.Since(b.asked) < statsFresh
	known := b.stats
	b.mu.Unlock()
	if err := b.db.Failing(); err != nil && !b.ownTime {
		return known, fmt.Errorf("count the originals: %w", err)
	}
	if recent {
		return known, nil
	}
	var s recovery.Stats
	var all int64
	err := b.db.Read(context.Background(), func(ctx context.Context, q postgres.Querier) error {
		return q.QueryRow(ctx, `WITH newest AS (SELECT subject, hash FROM mcp_pruner.originals WHERE expires_at > COALESCE($1, now()) ORDER BY expires_at DESC LIMIT $2)
			SELECT (SELECT COUNT(*) FROM newest), COUNT(*), COALESCE(SUM((SELECT bytes FROM mcp_pruner.texts t WHERE t.subject = s.subject AND t.hash = s.hash)), 0)::bigint,
			(SELECT GREATEST(reltuples, 0)::bigint FROM pg_class WHERE oid = 'mcp_pruner.originals_expires'::regclass) FROM (SELECT DISTINCT subject, hash FROM newest) s`,
			b.at(now), counted).Scan(&s.Items, &s.Texts, &s.Bytes, &all)
	})
	if n := int64(s.Items); n == counted && all > n {
		s.Items, s.Texts, s.Bytes = int(all), int(int64(s.Texts)*all/n), s.Bytes*all/n
	}
	s.Evicted = b.evicted.Load()
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		b.stats, b.asked = s, time.Now()
	}
	return s, err
}

// Close implements recovery.Backend.
func (b *backend) Close() error { return b.db.Close() }
