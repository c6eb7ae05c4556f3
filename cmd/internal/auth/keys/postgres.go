package keys

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mcp-pruner/mcp-pruner/tools/postgres"
)

// shared keeps keys in a database.
type shared struct{ db *postgres.DB }

// In returns the keys in a database, which Close closes.
func In(db *postgres.DB) Keys { return shared{db} }

// Add implements Keys.
func (s shared) Add(ctx context.Context, k Key, hash Hash) error {
	var added int64
	err := s.db.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
		scopes := append([]string{}, k.Scopes...) // never NULL
		tag, err := q.Exec(ctx, `INSERT INTO mcp_pruner.api_keys (id, hash, subject, scopes, created_at, expires_at, revoked_at, note)
			VALUES ($1, $2, $3, $4, COALESCE($5, now()), $6, $7, $8) ON CONFLICT DO NOTHING`,
			k.ID, hash[:], k.Subject, scopes, timeOrNull(k.Created), timeOrNull(k.Expires), timeOrNull(k.Revoked), k.Note)
		added = tag.RowsAffected()
		return err
	})
	return changed("store a key", added, err, ErrTaken)
}

const columns = `id, subject, scopes, created_at, expires_at, revoked_at, COALESCE(note, '')`

// List implements Keys.
func (s shared) List(ctx context.Context) (all []Key, err error) {
	err = s.db.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
		rows, err := q.Query(ctx, `SELECT `+columns+`, hash FROM mcp_pruner.api_keys ORDER BY created_at, id`)
		if err == nil {
			all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (Key, error) {
				var hash []byte
				k, err := scanShared(row, &hash)
				copy(k.hash[:], hash)
				return k, err
			})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	return all, nil
}

func scanShared(row pgx.Row, more ...any) (k Key, err error) {
	var expires, revoked *time.Time
	err = row.Scan(append([]any{&k.ID, &k.Subject, &k.Scopes, &k.Created, &expires, &revoked, &k.Note}, more...)...)
	k.Created = k.Created.UTC()
	if expires != nil {
		k.Expires = expires.UTC()
	}
	if revoked != nil {
		k.Revoked = revoked.UTC()
	}
	return k, err
}

// Revoke implements Keys.
func (s shared) Revoke(ctx context.Context, id string) error {
	var known int64
	err := s.db.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
		tag, err := q.Exec(ctx, `UPDATE mcp_pruner.api_keys SET revoked_at = COALESCE(revoked_at, now()) WHERE id = $1`, id)
		known = tag.RowsAffected()
		return err
	})
	return changed("revoke a key", known, err, ErrUnknown)
}

// Lookup implements Keys.
func (s shared) Lookup(ctx context.Context, hash Hash) (k Key, ok bool, err error) {
	err = s.db.Read(ctx, func(ctx context.Context, q postgres.Querier) error {
		k, err = scanShared(q.QueryRow(ctx, `SELECT `+columns+` FROM mcp_pruner.api_keys WHERE hash = $1`, hash[:]))
		return err
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Key{}, false, nil
	case err != nil:
		return Key{}, false, fmt.Errorf("look up a key: %w", err)
	}
	return k, true, nil
}

// Close implements Keys.
func (s shared) Close() error { return s.db.Close() }

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
