package store

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
)

// MaxOriginals is the default number of ids of one subject: in a database bytes are the limit that counts.
const MaxOriginals = 1_000_000

// sharedOriginals implements recovery.Backend in a database that replicas share. Each subject has texts of its own, and the limits
// apply to each subject.
type sharedOriginals struct {
	db      *DB
	limits  recovery.Settings
	ownTime bool // the clock of the settings counts, as in tests, and not the database's
	evicted atomic.Int64

	turns sync.Map // by subject a chan struct{}, which a put holds while it looks for room: the others wait without a connection

	mu    sync.Mutex
	rooms map[owner]room // by subject
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

// OriginalsIn returns a store in a database, which the store closes. The ages of ids are measured by the database's clock, which all
// replicas share.
func OriginalsIn(db *DB, s recovery.Settings) (*recovery.Store, error) {
	b := &sharedOriginals{db: db, ownTime: s.Now != nil, rooms: make(map[owner]room)}
	if s.MaxItems == 0 {
		s.MaxItems = MaxOriginals
	}
	return recovery.OpenIn(s, func(s recovery.Settings) (recovery.Backend, error) {
		b.limits = s
		return b, nil
	})
}

// at returns a time as an argument of a statement: none stands for the database's own time.
func (b *sharedOriginals) at(now time.Time) time.Time {
	if !b.ownTime {
		return time.Time{}
	}
	return now
}

// Put implements recovery.Backend. As long as the subject has room it is one statement, which commits on its own.
func (b *sharedOriginals) Put(ctx context.Context, i recovery.Item, text string) error {
	of := mine(ctx, b.db)
	insert := func(ctx context.Context, q querier) error {
		_, err := q.exec(ctx, `WITH `+addText+`
			INSERT INTO mcp_pruner.originals (subject, id, hash, expires_at) VALUES ($1, $5, $2, COALESCE($6, now()) + $7 * interval '1 microsecond')`,
			of, i.Hash, int64(len(text)), raw(text), i.ID, b.at(i.Created), b.limits.TTL.Microseconds())
		return taken(err)
	}
	if b.takeRoom(of, int64(len(text))) {
		return b.db.once(ctx, insert)
	}
	ctx, cancel := context.WithTimeout(ctx, b.db.settings.Patience)
	defer cancel()
	held, _ := b.turns.LoadOrStore(of, make(chan struct{}, 1))
	turn := held.(chan struct{})
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if b.takeRoom(of, int64(len(text))) { // the one before made some
		<-turn
		return b.db.once(ctx, insert)
	}
	done := make(chan error, 1)
	go func() { // what makes room for the next ones does not end with the call that began it
		defer func() { <-turn }()
		done <- b.putInRoom(ctx, of, i, int64(len(text)), insert)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// putInRoom stores a text once there is room. What it drops is dropped in as many transactions as it takes, none of which takes long:
// ids of one text take no bytes, so that a million of them may have to go.
func (b *sharedOriginals) putInRoom(caller context.Context, of owner, i recovery.Item, size int64, insert func(context.Context, querier) error) (err error) {
	var last int64 // seq of the newest id that has to go
	for stored := false; !stored && err == nil; {
		err = b.db.write(context.WithoutCancel(caller), func(ctx context.Context, q querier) error {
			if _, err := q.exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, "originals of "+of); err != nil {
				return err
			}
			if _, err := drop(ctx, q, `expires_at <= COALESCE($1, now()) ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED`,
				b.at(i.Created), expiredAtOnce); err != nil { // of all subjects, those that others are dropping excepted
				return err
			}
			ok, err := b.makeRoom(ctx, q, of, i.Hash, size, &last)
			if err == nil && ok && caller.Err() == nil { // else nobody waits for the id
				err = insert(ctx, q)
			}
			stored = ok
			return err
		})
	}
	return err
}

// taken returns recovery.ErrTaken for an error that says that the subject has the id.
func taken(err error) error {
	if violates(err, "originals_pkey") {
		return recovery.ErrTaken
	}
	return err
}

// takeRoom reports whether a subject has room for a text, and takes it.
func (b *sharedOriginals) takeRoom(of owner, bytes int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.rooms[of]
	if r.items < 1 || r.bytes < bytes {
		return false
	}
	b.rooms[of] = room{r.items - 1, r.bytes - bytes}
	return true
}

const (
	expiredAtOnce = 2000   // ids dropped for one that is stored, because they expired
	slack         = 32     // part of a limit that is freed when it is reached, so that not every text after that has to count the others
	droppedAtOnce = 50_000 // ids dropped in one transaction
)

// makeRoom drops a subject's oldest ids until a text fits in. ok is false if more of them, up to last, have to go.
func (b *sharedOriginals) makeRoom(ctx context.Context, q querier, of owner, hash [sha256.Size]byte, size int64, last *int64) (ok bool, err error) {
	most, mostBytes := int64(b.limits.MaxItems), b.limits.MaxBytes
	for {
		n, err := drop(ctx, q, `subject = $1 AND seq <= $2 AND expires_at IS NOT NULL ORDER BY seq LIMIT $3`, of, *last, droppedAtOnce)
		b.evicted.Add(n)
		if err != nil || n == droppedAtOnce {
			return false, err
		}
		var items, bytes int64
		if _, err := first(ctx, q, []any{&items, &bytes, last}, `WITH ids AS NOT MATERIALIZED
			(SELECT seq, hash FROM mcp_pruner.originals WHERE subject = $1 AND expires_at IS NOT NULL),
			latest AS (SELECT hash, MAX(seq) AS seq, COUNT(*) AS n FROM ids GROUP BY hash),
			sums AS (SELECT seq, n, SUM(CASE WHEN hash != $2 THEN bytes ELSE 0 END) OVER (ORDER BY seq) AS freed
				FROM latest JOIN (SELECT hash, bytes FROM mcp_pruner.texts WHERE subject = $1) t USING (hash)),
			total AS (SELECT COALESCE(SUM(n), 0)::bigint + 1 AS items, COALESCE(MAX(freed), 0)::bigint + $3 AS bytes FROM sums)
			SELECT items, bytes, COALESCE(GREATEST((SELECT seq FROM ids WHERE items > $4 ORDER BY seq OFFSET GREATEST(items - $4 - 1, 0) LIMIT 1),
			CASE WHEN bytes > $5 THEN COALESCE((SELECT MIN(seq) FROM sums WHERE freed >= bytes - $5), (SELECT MAX(seq) FROM sums)) END), 0) FROM total`,
			of, hash, size, most-most/slack, mostBytes-mostBytes/slack); err != nil {
			return false, err
		}
		if items <= most && bytes <= mostBytes {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.rooms[of] = room{(most - items) / replicas, (mostBytes - bytes) / replicas}
			return true, nil
		}
	}
}

// drop drops the ids for which a condition holds, and their texts. They are deleted by their place: a join with so many ids would
// read the whole table.
func drop(ctx context.Context, q querier, where string, args ...any) (dropped int64, err error) {
	hashes := make(map[owner][][]byte)
	err = q.each(ctx, func(r row) error {
		var of owner
		var hash []byte
		var n int64
		err := r(&of, &hash, &n)
		hashes[of], dropped = append(hashes[of], hash), dropped+n
		return err
	}, `WITH dropped AS (DELETE FROM mcp_pruner.originals WHERE ctid = ANY(ARRAY(SELECT ctid FROM mcp_pruner.originals
		WHERE `+where+`)) RETURNING subject, hash) SELECT subject, hash, COUNT(*) FROM dropped GROUP BY subject, hash`, args...)
	for of, all := range hashes {
		if err == nil {
			err = dropTexts(ctx, q, of, all)
		}
	}
	return dropped, err
}

// Get implements recovery.Backend. Another subject's id takes the way of one that never was: it is looked up among the
// caller's own.
func (b *sharedOriginals) Get(ctx context.Context, id string, now time.Time) (text string, ok bool, err error) {
	var hash [sha256.Size]byte
	var body []byte
	ok, err = readFirst(ctx, b.db, []any{&hash, &body}, `SELECT t.hash, t.body FROM mcp_pruner.originals o JOIN mcp_pruner.texts t USING (subject, hash)
		WHERE o.subject = $1 AND o.id = $2 AND (o.expires_at IS NULL OR o.expires_at > COALESCE($3, now()))`, mine(ctx, b.db), id, b.at(now))
	if err != nil || !ok {
		return "", false, err
	}
	if sha256.Sum256(body) != hash {
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
func (b *sharedOriginals) Stats(now time.Time) (recovery.Stats, error) {
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
	_, err := readFirst(context.Background(), b.db, []any{&s.Items, &s.Texts, &s.Bytes, &all}, `WITH newest AS (SELECT subject, hash FROM mcp_pruner.originals WHERE expires_at > COALESCE($1, now()) ORDER BY expires_at DESC LIMIT $2)
		SELECT (SELECT COUNT(*) FROM newest), COUNT(*), COALESCE(SUM((SELECT bytes FROM mcp_pruner.texts t WHERE t.subject = s.subject AND t.hash = s.hash)), 0)::bigint,
		(SELECT GREATEST(reltuples, 0)::bigint FROM pg_class WHERE oid = 'mcp_pruner.originals_expires'::regclass) FROM (SELECT DISTINCT subject, hash FROM newest) s`,
		b.at(now), counted)
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
func (b *sharedOriginals) Close() error { return b.db.Close() }
