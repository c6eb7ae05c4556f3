// Package keys keeps the API keys of the doors: hashed, each with its subject and what it may do. A key itself is shown
// once, by those who make it, and is stored nowhere.
package keys

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
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

	hash Hash // of those that List returns
}

// Valid reports whether the key is accepted at a time.
func (k Key) Valid(now time.Time) bool {
	return k.Revoked.IsZero() && (k.Expires.IsZero() || now.Before(k.Expires))
}

// Keys is a store of keys. It is safe for concurrent use, and several processes may have one open. TestKeys is what every
// implementation passes. An error other than those below means that the store could not be asked: then no key is accepted.
type Keys interface {
	// Add stores a key by its hash. It returns ErrTaken if the id or the hash is there already.
	Add(ctx context.Context, k Key, hash Hash) error
	// List returns all keys, also those that expired or were revoked, in the order in which they were created.
	List(ctx context.Context) ([]Key, error)
	// Revoke revokes a key by its id. A key that is revoked stays as it was. It returns ErrUnknown if there is none.
	Revoke(ctx context.Context, id string) error
	// Lookup returns the key with a hash, also if it expired or was revoked: ask Valid. ok is false if there is none.
	Lookup(ctx context.Context, hash Hash) (k Key, ok bool, err error)
	Close() error
}

var (
	// ErrTaken means that a key with this id, or this very key, is stored already.
	ErrTaken = errors.New("there is a key with this id already")
	// ErrUnknown means that no key has the given id.
	ErrUnknown = errors.New("no key has this id")
)

// changed returns the error of a statement that was meant to change one row, or unchanged if it changed none.
func changed(what string, rows int64, err, unchanged error) error {
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", what, err)
	case rows == 0:
		return unchanged
	}
	return nil
}
