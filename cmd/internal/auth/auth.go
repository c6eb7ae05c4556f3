// Package auth says who may call, by the keys that requests carry.
package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
)

// Keys is a place of keys. The tests of this package have those that every such place passes.
type Keys interface {
	// Owner returns whose key it is, "" if the place knows no names. ok is false if it is nobody's. An error means that
	// the place could not be asked: then nobody is admitted.
	Owner(ctx context.Context, key string) (owner string, ok bool, err error)
}

// Token is a place with one key, whose owner has no name.
type Token string

// Owner implements [Keys]. It compares in constant time.
func (t Token) Owner(_ context.Context, key string) (owner string, ok bool, err error) {
	a, b := sha256.Sum256([]byte(t)), sha256.Sum256([]byte(key))
	return "", t != "" && subtle.ConstantTimeCompare(a[:], b[:]) == 1, nil
}
