package store

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"time"
)

const (
	// heardWithin is how long an announcement waits for the replica that it concerns, and pollEvery how often the others look.
	heardWithin = 1500 * time.Millisecond
	pollEvery   = 250 * time.Millisecond
	askHeard    = 20 * time.Millisecond

	// maxAnnounced is how many bytes an announcement may have. Longer ones than lookedAtOnce are not looked at again by a replica that
	// could not act on them: others wait for the database meanwhile.
	maxAnnounced = 1 << 20
	lookedAtOnce = 4 << 10
)

// Announce tells all replicas something and reports whether one of them acted on it within heardWithin.
func (db *DB) Announce(ctx context.Context, topic string, payload []byte) (heard bool, err error) {
	if len(payload) > maxAnnounced {
		return false, fmt.Errorf("other replicas are told at most %d bytes", maxAnnounced)
	}
	var seq int64
	if _, err = readFirst(ctx, db, []any{&seq}, `WITH old AS (DELETE FROM mcp_pruner.announcements WHERE created_at < now() - interval '1 minute'),
		new AS (INSERT INTO mcp_pruner.announcements (topic, payload) VALUES ($1, $2) RETURNING seq)
		SELECT seq FROM new`, topic, payload); err != nil {
		return false, err
	}
	waiting, cancel := context.WithTimeout(ctx, heardWithin)
	defer cancel()
	for {
		if _, err := readFirst(ctx, db, []any{&heard}, `SELECT heard_at IS NOT NULL FROM mcp_pruner.announcements WHERE seq = $1`, seq); err != nil || heard {
			return heard, err
		}
		select {
		case <-waiting.Done():
			return false, ctx.Err()
		case <-time.After(askHeard):
		}
	}
}

// Hear calls act with each announcement whose topic is wanted until it reports that it could act on it, or the announcement is too
// old. It returns when ctx ends.
func (db *DB) Hear(ctx context.Context, wanted func(topic string) bool, act func(topic string, payload []byte) bool) {
	looked := map[int64]bool{}
	for ctx.Err() == nil {
		_ = db.look(ctx, looked, wanted, act) // the database is away: what was announced meanwhile is too old when it is back
		select {
		case <-ctx.Done():
		case <-time.After(pollEvery):
		}
	}
}

// look acts on the announcements that nobody has acted on. looked has the long ones that were looked at before.
func (db *DB) look(ctx context.Context, looked map[int64]bool, wanted func(topic string) bool, act func(topic string, payload []byte) bool) error {
	return db.read(ctx, func(ctx context.Context, q querier) error {
		var waiting, heard []int64
		sizes := map[int64]int64{}
		err := q.each(ctx, func(r row) error {
			var seq, size int64
			var topic string
			err := r(&seq, &topic, &size)
			sizes[seq] = size
			if err == nil && !looked[seq] && wanted(topic) {
				waiting = append(waiting, seq)
			}
			return err
		}, `SELECT seq, topic, octet_length(payload) FROM mcp_pruner.announcements WHERE heard_at IS NULL AND created_at > now() - interval '10 seconds'`)
		if err != nil || len(waiting) == 0 {
			return err
		}
		maps.DeleteFunc(looked, func(seq int64, _ bool) bool { return sizes[seq] == 0 }) // too old
		err = q.each(ctx, func(r row) error {
			var seq int64
			var topic string
			var payload []byte
			err := r(&seq, &topic, &payload)
			if err == nil && act(topic, payload) {
				heard = append(heard, seq)
			} else if sizes[seq] > lookedAtOnce {
				looked[seq] = true
			}
			return err
		}, `SELECT seq, topic, payload FROM mcp_pruner.announcements WHERE seq = ANY($1) ORDER BY seq`, waiting)
		if err == nil && len(heard) > 0 {
			_, err = q.exec(ctx, `UPDATE mcp_pruner.announcements SET heard_at = now() WHERE seq = ANY($1)`, heard)
		}
		return err
	})
}

// SharedKey returns the random key with a name that all replicas have. The first one to ask makes it.
func (db *DB) SharedKey(ctx context.Context, name string) (key []byte, err error) {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails
	err = db.read(ctx, func(ctx context.Context, q querier) error {
		const known = `SELECT value FROM mcp_pruner.shared_keys WHERE name = $1`
		if found, err := first(ctx, q, []any{&key}, known, name); err != nil || found {
			return err // a database that is read-only for a while still has it
		}
		if _, err := q.exec(ctx, `INSERT INTO mcp_pruner.shared_keys (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, name, random); err != nil {
			return err
		}
		_, err := first(ctx, q, []any{&key}, known, name)
		return err
	})
	return key, err
}
