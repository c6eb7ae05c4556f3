package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	_ "embed" // for the table
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Hash is SHA-256 of a key. Keys are random and long, so that a slow hash would protect nothing.
type Hash = [sha256.Size]byte

// Key is the record of an API key.
type Key struct {
	ID      string // public, for lists and revocation
	Subject string
	Scopes  []string
	Created time.Time // zero: now
	Expires time.Time // zero: never
	Revoked time.Time // zero: not revoked
	Note    string
}

// Valid reports whether the key is accepted at a time.
func (k Key) Valid(now time.Time) bool {
	return k.Revoked.IsZero() && (k.Expires.IsZero() || now.Before(k.Expires))
}

// Keys is a store of the API keys of the doors: hashed, each with its subject and what it may do. A key itself is shown once, by
// those who make it, and is stored nowhere. Keys is safe for concurrent use, and several processes may have one open. An error
// other than those below means that the store could not be asked: then no key is accepted.
type Keys struct {
	place
	now   func() time.Time // zero: the database's
	close func() error
}

var (
	// ErrKeyTaken means that a key with this id, or this very key, is stored already.
	ErrKeyTaken = errors.New("there is a key with this id already")
	// ErrKeyUnknown means that no key has the given id.
	ErrKeyUnknown = errors.New("no key has this id")
)

// keysTable has times in microseconds since 1970, 0 for none, and scopes as a JSON array.
//
//go:embed migrations/sqlite/keys.sql
var keysTable string

// OpenKeys opens the keys in a file, which it creates if there is none. report is told that a damaged file was moved aside: nobody
// is known then.
func OpenKeys(path string, report func(string), now func() time.Time) (*Keys, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := openFile(fileSettings{
		Path: path, Name: "the store of API keys", Patience: patience, Damaged: report, Now: now,
		Prepare: func(db *sql.DB) error {
			if _, err := db.Exec(keysTable); err != nil {
				return err
			}
			var n int
			return db.QueryRow(`SELECT COUNT(*) FROM api_keys`).Scan(&n)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("open the API keys %s: %w", path, err)
	}
	return &Keys{f, now, f.Close}, nil
}

// KeysIn returns the keys in a database, which Close closes.
func KeysIn(db *DB) *Keys {
	return &Keys{db, func() (now time.Time) { return now }, db.Close}
}

// Add stores a key by its hash. It returns ErrKeyTaken if the id or the hash is there already.
func (k *Keys) Add(ctx context.Context, key Key, hash Hash) error {
	if key.Created.IsZero() {
		key.Created = k.now()
	}
	return k.change(ctx, "store a key", ErrKeyTaken, `INSERT INTO mcp_pruner.api_keys (id, hash, subject, scopes, created_at, expires_at, revoked_at, note)
		VALUES ($1, $2, $3, $4, COALESCE($5, now()), $6, $7, $8) ON CONFLICT DO NOTHING`,
		key.ID, hash, owner(key.Subject), key.Scopes, key.Created, key.Expires, key.Revoked, key.Note)
}

// Revoke revokes a key by its id. A key that is revoked stays as it was. It returns ErrKeyUnknown if there is none.
func (k *Keys) Revoke(ctx context.Context, id string) error {
	return k.change(ctx, "revoke a key", ErrKeyUnknown, `UPDATE mcp_pruner.api_keys SET revoked_at = COALESCE(NULLIF(revoked_at, $3), $2, now()) WHERE id = $1`,
		id, k.now(), time.Time{})
}

// change executes a statement that is meant to change one row. It returns unchanged if it changed none.
func (k *Keys) change(ctx context.Context, what string, unchanged error, statement string, args ...any) error {
	var rows int64
	err := k.once(ctx, func(ctx context.Context, q querier) (err error) {
		rows, err = q.exec(ctx, statement, args...)
		return err
	})
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", what, err)
	case rows == 0:
		return unchanged
	}
	return nil
}

const keyColumns = `SELECT id, subject, scopes, created_at, expires_at, revoked_at, COALESCE(note, '') FROM mcp_pruner.api_keys`

func scanKey(r row) (k Key, err error) {
	err = r(&k.ID, &k.Subject, &k.Scopes, &k.Created, &k.Expires, &k.Revoked, &k.Note)
	return k, err
}

// List returns all keys, also those that expired or were revoked, in the order in which they were created.
func (k *Keys) List(ctx context.Context) (all []Key, err error) {
	if all, err = readAll(ctx, k, scanKey, keyColumns+` ORDER BY created_at, id`); err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	return all, nil
}

// Lookup returns the key with a hash, also if it expired or was revoked: ask Valid. ok is false if there is none.
func (k *Keys) Lookup(ctx context.Context, hash Hash) (key Key, ok bool, err error) {
	all, err := readAll(ctx, k, scanKey, keyColumns+` WHERE hash = $1`, hash)
	switch {
	case err != nil:
		return Key{}, false, fmt.Errorf("look up a key: %w", err)
	case len(all) == 0:
		return Key{}, false, nil
	}
	return all[0], true, nil
}

// Close closes the file or the database.
func (k *Keys) Close() error { return k.close() }
