// Package recovery keeps the originals of pruned texts for a limited time, so that no text
// is lost: a text is stored before it is pruned, and its lines are recovered by its id.
package recovery

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

// Defaults of Settings.
const (
	DefaultTTL      = 10 * time.Minute
	DefaultMaxItems = 10_000
	DefaultMaxBytes = 256 << 20
)

// Settings are the limits of a store. The zero value keeps texts in memory, with the
// defaults above.
type Settings struct {
	TTL      time.Duration // time from Put during which an id can be recovered
	MaxItems int           // maximum number of ids; the oldest are dropped first
	MaxBytes int64         // maximum size of all distinct texts; the oldest are dropped first

	// File, if set, keeps the texts across restarts. Several processes may share it; the
	// limits then apply to all of them together.
	File string
	// Report is called with messages for the user about File, for example that a damaged
	// file was renamed. Nil drops them.
	Report func(message string)

	Now func() time.Time // nil means time.Now
}

// Stats counts the content of a store.
type Stats struct {
	Items   int   // ids that can be recovered
	Texts   int   // distinct texts of these ids
	Bytes   int64 // of those texts
	Evicted int64 // ids dropped before they expired because the store was full
}

// ErrTooLarge means that a single text exceeds the size limit of the store.
var ErrTooLarge = errors.New("text larger than the recovery store")

// Store stores texts under new ids. It is safe for concurrent use.
type Store struct {
	settings Settings
	backend  backend
}

// backend stores the texts in memory or in a file. Both drop texts older than the TTL and,
// oldest first, those that exceed the limits.
type backend interface {
	put(ctx context.Context, i item, text string) error
	get(ctx context.Context, id string, now time.Time) (text string, ok bool, err error)
	stats(now time.Time) (Stats, error)
	close() error
}

// item is one id.
type item struct {
	id      string
	hash    [sha256.Size]byte // hash of its text: identical texts are stored once
	created time.Time
}

// Open returns a store. It fails if the settings are invalid, or if the file can neither be
// used nor renamed.
func Open(s Settings) (*Store, error) {
	if s.TTL < 0 || s.MaxItems < 0 || s.MaxBytes < 0 {
		return nil, errors.New("recovery limits must not be negative")
	}
	s = s.withDefaults()
	if s.File == "" {
		return &Store{settings: s, backend: newMemory(s)}, nil
	}
	f, err := openFile(s)
	if err != nil {
		return nil, fmt.Errorf("open recovery store %s: %w", s.File, err)
	}
	return &Store{settings: s, backend: f}, nil
}

// Put stores a text and returns its id, a new one on every call. If it fails, the text must
// not be pruned. It waits for a locked file until ctx ends, but no longer than
// lockPatience.
func (s *Store) Put(ctx context.Context, text string) (string, error) {
	if int64(len(text)) > s.settings.MaxBytes {
		return "", ErrTooLarge
	}
	return s.put(ctx, NewID(), text)
}

// PutShort is Put with a short id, which costs a model fewer tokens: "prn_" and eight
// hexadecimal digits. A client that may call this server's tools could try all of them.
func (s *Store) PutShort(ctx context.Context, text string) (string, error) {
	if int64(len(text)) > s.settings.MaxBytes {
		return "", ErrTooLarge
	}
	id := NewID()[:shortID]
	for {
		_, taken, err := s.backend.get(ctx, id, s.settings.Now())
		if err != nil {
			return "", fmt.Errorf("store the original: %w", err)
		}
		if !taken {
			return s.put(ctx, id, text)
		}
		id = NewID()[:shortID]
	}
}

const shortID = len("prn_") + 8

func (s *Store) put(ctx context.Context, id, text string) (string, error) {
	i := item{id: id, hash: sha256.Sum256([]byte(text)), created: s.settings.Now()}
	if err := s.backend.put(ctx, i, text); err != nil {
		return "", fmt.Errorf("store the original: %w", err)
	}
	return i.id, nil
}

// Get returns the text with an id, or *NotFound if the id is unknown or expired. It does
// not wait for writers.
func (s *Store) Get(ctx context.Context, id string) (Text, error) {
	text, ok, err := s.backend.get(ctx, id, s.settings.Now())
	if err != nil {
		return Text{}, fmt.Errorf("read the original: %w", err)
	}
	if !ok {
		return Text{}, &NotFound{ID: id}
	}
	return NewText(text), nil
}

// Stats returns the current content of the store.
func (s *Store) Stats() (Stats, error) { return s.backend.stats(s.settings.Now()) }

// Close closes the file, if there is one. Its texts are kept.
func (s *Store) Close() error { return s.backend.close() }

// NewID returns a new id, "prn_" and 32 hexadecimal digits, that cannot be guessed.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never returns an error: it ends the program instead
	return "prn_" + hex.EncodeToString(b[:])
}

func (s Settings) withDefaults() Settings {
	if s.TTL == 0 {
		s.TTL = DefaultTTL
	}
	if s.MaxItems == 0 {
		s.MaxItems = DefaultMaxItems
	}
	if s.MaxBytes == 0 {
		s.MaxBytes = DefaultMaxBytes
	}
	if s.Report == nil {
		s.Report = func(string) {}
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	return s
}
