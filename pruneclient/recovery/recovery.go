// Package recovery keeps the originals of pruned texts for a limited time, so that no text
// is lost: a text is stored before it is pruned, and its lines are recovered by its id. The whole outputs that
// hooks pruned are an archive of one file each, because a process that lives for a few milliseconds cannot
// afford a database. Its index says for every id that an agent is shown where the text is.
package recovery

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

const (
	DefaultTTL      = 10 * time.Minute
	DefaultMaxItems = 10_000
	DefaultMaxBytes = 256 << 20
)

// Settings are the limits of a store. The zero value means the defaults above.
type Settings struct {
	TTL      time.Duration // time from Put during which an id can be recovered
	MaxItems int           // maximum number of ids; the oldest of the subject that has most are dropped first
	MaxBytes int64         // maximum size of all distinct texts; likewise

	// Report is called with messages for the user, for example that a damaged file was renamed. Nil drops them.
	Report func(message string)

	Now func() time.Time // nil means time.Now
}

// Stats counts the content of a store. Large numbers of a database are estimates.
type Stats struct {
	Items   int   `json:"items"`   // ids that can be recovered
	Texts   int   `json:"texts"`   // distinct texts of these ids
	Bytes   int64 `json:"bytes"`   // of those texts
	Evicted int64 `json:"evicted"` // ids dropped before they expired because the store was full
}

// ErrTooLarge means that a single text exceeds the size limit of the store.
var ErrTooLarge = errors.New("text larger than the recovery store")

// ErrTaken means that the store has another text under an id.
var ErrTaken = errors.New("the id is taken")

// Store stores texts under new ids. It is safe for concurrent use.
type Store struct {
	settings Settings
	backend  Backend
	misses   Misses
}

// Backend stores the texts of a [Store]: in memory, or as package sqlite does. It drops texts older than the TTL and those
// that exceed the limits, the oldest of the subject that has most first, but never the one just put. Several processes may share a backend; the limits then apply to all of them
// together. TestBackends is what every backend passes.
type Backend interface {
	// Put returns ErrTaken, and changes nothing, if the subject has the item's id. Asking first would be one more trip to a
	// database, and another process could take the id meanwhile.
	Put(ctx context.Context, i Item, text string) error
	// Get does not wait for writers.
	Get(ctx context.Context, id string, now time.Time) (text string, ok bool, err error)
	Stats(now time.Time) (Stats, error)
	Close() error
}

// Item is one id.
type Item struct {
	ID      string
	Hash    [sha256.Size]byte // hash of its text: identical texts are stored once
	Created time.Time
}

// Of returns the item as a backend without a column for subjects keeps it: the id and the hash of a subject's text are
// nobody else's, so that another subject's question is that for an id that never was, and texts of two subjects are never
// shared by their content. The items of the machine's owner, "", stay as they are.
func (i Item) Of(subject string) Item {
	if subject == "" {
		if strings.Contains(i.ID, "/") { // never one of ours: somebody guesses how those of subjects are written down
			i.ID = "/" + i.ID
		}
		return i
	}
	owner := sha256.Sum256([]byte(subject))
	i.ID = hex.EncodeToString(owner[:16]) + "/" + i.ID
	i.Hash = sha256.Sum256(append(owner[:], i.Hash[:]...))
	return i
}

// owner returns the part of the id that Of added: "" for the machine's owner.
func (i Item) owner() string { return i.ID[:strings.IndexByte(i.ID, '/')+1] }

// Open returns a store in memory. It fails if the settings are invalid.
func Open(s Settings) (*Store, error) { return OpenIn(s, newMemory) }

// OpenIn returns a store in a backend, which it opens with complete settings.
func OpenIn(s Settings, open func(Settings) (Backend, error)) (*Store, error) {
	if s.TTL < 0 || s.MaxItems < 0 || s.MaxBytes < 0 {
		return nil, errors.New("recovery limits must not be negative")
	}
	s = s.withDefaults()
	backend, err := open(s)
	if err != nil {
		return nil, err
	}
	return &Store{settings: s, backend: backend}, nil
}

// Put stores a text and returns its id, a new one on every call. If it fails, the text must
// not be pruned.
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
	for {
		if id, err := s.put(ctx, ShortID(), text); !errors.Is(err, ErrTaken) {
			return id, err
		}
	}
}

// PutBeside is PutShort that does not wait. It returns the id at once, calls failed if the text is not stored, and stored waits
// for the result. An id that the subject has already, one of four billion for each of its texts, is such a failure.
func (s *Store) PutBeside(ctx context.Context, text string, failed func()) (id string, stored func() error) {
	id = ShortID()
	result := make(chan error, 1)
	go func() {
		err := ErrTooLarge
		if int64(len(text)) <= s.settings.MaxBytes {
			_, err = s.put(ctx, id, text)
		}
		if err != nil {
			failed()
		}
		result <- err
	}()
	return id, func() error { return <-result }
}

// idDigits is the number of digits of a short id.
const idDigits = 8

// ShortID returns a new id, "prn_" and eight hexadecimal digits.
func ShortID() string { return NewID()[:len("prn_")+idDigits] }

func (s *Store) put(ctx context.Context, id, text string) (string, error) {
	i := Item{ID: id, Hash: sha256.Sum256([]byte(text)), Created: s.settings.Now()}
	if err := s.backend.Put(ctx, i, text); err != nil {
		return "", fmt.Errorf("store the original: %w", err)
	}
	return id, nil
}

// Get returns the text with an id, or *NotFound if the id is unknown or expired.
func (s *Store) Get(ctx context.Context, id string) (Text, error) {
	owner, now := agent.SubjectOf(ctx), s.settings.Now()
	if s.misses.Exceeded(owner, now) {
		return Text{}, &NotFound{ID: id}
	}
	text, ok, err := s.backend.Get(ctx, id, now)
	if err != nil {
		return Text{}, fmt.Errorf("read the original: %w", err)
	}
	if !ok {
		s.misses.Add(owner, s.settings.Report)
		return Text{}, &NotFound{ID: id}
	}
	return NewText(text), nil
}

// Stats returns the current content of the store.
func (s *Store) Stats() (Stats, error) { return s.backend.Stats(s.settings.Now()) }

// Close closes the backend. What it keeps is kept.
func (s *Store) Close() error { return s.backend.Close() }

// NewID returns a new id, "prn_" and 32 hexadecimal digits, that cannot be guessed.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never returns an error: it ends the program instead
	return "prn_" + hex.EncodeToString(b[:])
}

func (s Settings) withDefaults() Settings {
	s.TTL = cmp.Or(s.TTL, DefaultTTL)
	s.MaxItems = cmp.Or(s.MaxItems, DefaultMaxItems)
	s.MaxBytes = cmp.Or(s.MaxBytes, DefaultMaxBytes)
	if s.Report == nil {
		s.Report = func(string) {}
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	return s
}
