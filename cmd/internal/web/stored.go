package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// How long an answer of the store of keys is used.
const (
	fresh = 10 * time.Second // without asking again
	// MaxRevoked is the longest time for which a revoked key is accepted where the store can be asked.
	MaxRevoked = fresh

	warnEvery     = time.Minute
	lookupWithin  = 2 * time.Second
	askAgainAfter = time.Second // a store that failed is left alone for so long
	lookups       = 4           // at once, of keys seen before
	unseenLookups = 2           // at once, of others, so that guesses do not take all connections of the store
	maxRemembered = 10_000      // keys
)

// keyPrefix begins every API key, so that scanners for secrets and our own checks recognize one.
const keyPrefix = "mcpk_"

var keyForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(keyPrefix + `[0-9a-f]{64}`) })

// keyLength is the length of an API key.
const keyLength = len(keyPrefix) + 64

// IsKey reports whether a text has the form of an API key.
func IsKey(text string) bool { return len(text) == keyLength && HasKey(text) }

// HasKey reports whether a text contains something that has the form of an API key.
func HasKey(text string) bool {
	return strings.Contains(text, keyPrefix) && keyForm().MatchString(text)
}

// NewKey returns a new API key. Its 256 random bits cannot be guessed, so that a plain hash protects it.
func NewKey() string {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails
	return keyPrefix + hex.EncodeToString(random)
}

// HashKey returns the hash by which an API key is stored and found.
func HashKey(key string) []byte {
	sum := sha256.Sum256([]byte(key))
	return sum[:]
}

// KeyFinder finds the caller of an API key by the key's hash. ok is false if there is none, or the key was revoked.
type KeyFinder func(ctx context.Context, hash []byte) (c Caller, ok bool, err error)

// StoredKeys is the method of API keys that are in a store. What the store said is remembered for a while, so that a short
// outage of the store stops nobody.
type StoredKeys struct {
	find  KeyFinder
	now   func() time.Time
	grace time.Duration                // how long a key is accepted that the store confirmed before it could not be asked any more
	warn  func(message string)         // is told, once a minute, that keys are accepted unasked
	turns map[bool]*semaphore.Weighted // first come, first served; those of keys seen before (true) wait for no guesses

	mu     sync.Mutex
	known  map[string]confirmed // by hash
	failed time.Time            // when the store last failed; zero: it works
	why    error                // it failed
	warned time.Time
}

// confirmed is a caller and when the store confirmed the key.
type confirmed struct {
	caller Caller
	at     time.Time
}

// NewStoredKeys returns a method that asks a store. While that cannot be asked a key is accepted for grace after it was confirmed, and
// warn is told. now is time.Now, except in tests.
func NewStoredKeys(find KeyFinder, grace time.Duration, warn func(message string), now func() time.Time) *StoredKeys {
	turns := map[bool]*semaphore.Weighted{true: semaphore.NewWeighted(lookups), false: semaphore.NewWeighted(unseenLookups)}
	return &StoredKeys{find: find, grace: grace, warn: warn, now: now, turns: turns, known: make(map[string]confirmed)}
}

// Check implements [AuthMethod].
func (s *StoredKeys) Check(ctx context.Context, credential string) (Caller, error) {
	if !IsKey(credential) {
		return Caller{}, ErrUnknownCaller
	}
	hash := HashKey(credential)
	last, seen, retry, err := s.remembered(string(hash))
	if seen && s.now().Sub(last.at) < fresh {
		return s.current(last.caller)
	}
	if retry {
		var c Caller
		var ok bool
		if c, ok, err = s.ask(ctx, hash, seen); err == nil {
			if !ok {
				return Caller{}, ErrUnknownCaller
			}
			return s.current(c)
		}
	}
	if seen && s.now().Sub(last.at) < s.grace {
		s.accepted()
		return s.current(last.caller)
	}
	return Caller{}, fmt.Errorf("ask the store of API keys: %w", err)
}

// accepted warns that keys are accepted although the store cannot be asked.
func (s *StoredKeys) accepted() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.warn == nil || s.why == nil || s.now().Sub(s.warned) < warnEvery {
		return
	}
	s.warned = s.now()
	s.warn(fmt.Sprintf("the store of API keys cannot be asked (%v): for %v after it confirmed a key that is accepted all the same, also if it was revoked meanwhile", s.why, s.grace))
}

// current refuses a caller whose key has expired.
func (s *StoredKeys) current(c Caller) (Caller, error) {
	if !c.Until.IsZero() && !s.now().Before(c.Until) {
		return Caller{}, ErrUnknownCaller
	}
	return c, nil
}

// remembered returns what is known of a key, whether the store may be asked now, and why it failed when it was asked last.
func (s *StoredKeys) remembered(hash string) (last confirmed, seen, retry bool, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, seen = s.known[hash]
	return last, seen, s.failed.IsZero() || s.now().Sub(s.failed) >= askAgainAfter, s.why
}

// ask asks the store and remembers what it says. The time of the answer is that of the question: the key may be revoked in
// between. That a turn did not come in time says nothing about the store.
func (s *StoredKeys) ask(ctx context.Context, hash []byte, seen bool) (c Caller, ok bool, err error) {
	waiting, cancel := context.WithTimeout(ctx, lookupWithin)
	defer cancel()
	if err = s.turns[seen].Acquire(waiting, 1); err != nil {
		return Caller{}, false, fmt.Errorf("wait for a turn: %w", err)
	}
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lookupWithin)
	defer cancel()
	asked := s.now()
	c, ok, err = s.find(ctx, hash)
	s.turns[seen].Release(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.failed, s.why = s.now(), err
		return Caller{}, false, err
	}
	s.failed, s.why = time.Time{}, nil
	if !ok {
		delete(s.known, string(hash))
		return Caller{}, false, nil
	}
	s.makeRoom()
	s.known[string(hash)] = confirmed{c, asked}
	return c, true, nil
}

// makeRoom drops the answers that are out of date and, if that is not enough, any answer: the store is then asked again.
func (s *StoredKeys) makeRoom() {
	if len(s.known) < maxRemembered {
		return
	}
	for hash, k := range s.known {
		if s.now().Sub(k.at) >= s.grace {
			delete(s.known, hash)
		}
	}
	for hash := range s.known {
		if len(s.known) < maxRemembered {
			return
		}
		delete(s.known, hash)
	}
}

// Ready returns an error if the store has been failing for so long that no key is accepted any more.
func (s *StoredKeys) Ready(ctx context.Context) error {
	s.mu.Lock()
	recent := s.now().Add(-s.grace)
	for _, k := range s.known {
		if k.at.After(recent) {
			s.mu.Unlock()
			return nil
		}
	}
	retry := s.failed.IsZero() || s.now().Sub(s.failed) >= askAgainAfter
	why := s.why
	s.mu.Unlock()
	if !retry {
		return why
	}
	_, _, err := s.ask(ctx, HashKey(""), true)
	return err
}
