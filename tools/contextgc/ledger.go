package contextgc

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"
)

// Ledger is a store of what agents were given: segments with their texts, the decisions to clear some, and what the
// sessions used. Once a method has returned, its changes survive kill -9. It is safe for concurrent use, and several
// processes may have one ledger open. TestLedgers is what every implementation passes.
type Ledger interface {
	Segments
	Decisions
	Sessions

	// Name returns the name by which others find this ledger: the absolute path of a file.
	Name() string
	// Shared reports whether the ledger is in a database, where it has other subjects' segments, too.
	Shared() bool
	// Lost reports that what others find under the ledger's name is no longer this one.
	Lost() bool
	// Shrink gives unused space back to the system.
	Shrink(ctx context.Context) error
	// Size returns the current content.
	Size(ctx context.Context) (Size, error)
	// Clean removes sessions until the ledger is within its limits: their segments, texts, decisions and usage. Pinned
	// segments stay. It returns the number of segments removed.
	Clean(ctx context.Context, l Limits) (removed int, err error)
	// Forget removes what belongs to a project or a session of the context's subject, or all that the subject has: segments,
	// pinned ones too, with their texts and clearings, and what is known of the sessions. It returns the number of segments.
	Forget(ctx context.Context, what Forgotten) (removed int, err error)
	Close() error
}

// Segments is the part of a [Ledger] with what agents were shown.
type Segments interface {
	// Put stores entries, all or none, and returns their ids. A zero time means now, an empty id a new one. An entry with
	// the key of an earlier one is not stored again. With ErrValue those are stored that can be.
	Put(ctx context.Context, entries ...Entry) ([]string, error)
	// Get returns a segment with its exact text. If several match, it returns the latest; if none does, ErrNotFound.
	Get(ctx context.Context, what Reference) (Segment, string, error)
	// Has reports whether a segment has a text with a hash.
	Has(ctx context.Context, hash [sha256.Size]byte) (bool, error)
	// List returns segments without their texts, in the order in which they were stored.
	List(ctx context.Context, f Filter) ([]Segment, error)
	// Search finds the segments that contain every word of the query, newest first. total is their number, regardless of
	// the limit.
	Search(ctx context.Context, q Query) (hits []Hit, total int, err error)
	// Change changes segments of a project. Those that it refuses are in the result's Errors; all others are changed.
	Change(ctx context.Context, project string, ids []string, action Action) (Changed, error)
}

// Decisions is the part of a [Ledger] with what the proxy decided to clear.
type Decisions interface {
	// Clear stores the decisions made at one place and returns them, except those about pinned segments, which are not
	// cleared. It returns ErrDecided and stores nothing if one of the place's marks is known.
	Clear(ctx context.Context, place Place, list []Clearing) ([]Clearing, error)
	// Clearings returns the decisions stored after the one with number after, the number of the last one, and the keys of
	// all pinned segments. No decision with a smaller number is stored later.
	Clearings(ctx context.Context, after int64) (list []Clearing, last int64, pinned map[[32]byte]bool, err error)
	// Last returns the number of the decision that was stored last; 0: there is none.
	Last(ctx context.Context) (int64, error)
	// Count returns how many of the decisions up to a number there are: fewer than before once the ledger was cleaned.
	Count(ctx context.Context, upTo int64) (int64, error)
	// Chain returns the decisions with some ids, and those before each of them, back to the first.
	Chain(ctx context.Context, ids [][32]byte) ([]Clearing, error)
	// Heads returns, for each known mark among marks, the latest decision in force at its place; zero: none. What a mark
	// leads to never changes.
	Heads(ctx context.Context, marks [][32]byte) (map[[32]byte][32]byte, error)
	// Settle stores that nothing was decided at the places with some marks: the decisions in force there are those of
	// earlier places. Marks that are known already keep their meaning; all reports that there were none.
	Settle(ctx context.Context, heads map[[32]byte][32]byte) (all bool, err error)
}

// Sessions is the part of a [Ledger] with what sessions used.
type Sessions interface {
	// AddUsage adds one call to its session's usage. Before, After and Cleared are totals of the session and are not added
	// up.
	AddUsage(ctx context.Context, u Usage) error
	// Usages returns the usage of every session, latest first.
	Usages(ctx context.Context) ([]Usage, error)
	// LastUse returns when a session's usage was last added to; zero: never.
	LastUse(ctx context.Context, session string) (time.Time, error)
	// AddMark stores a mark. If a session was compacted, its working segments become stashed, because they are no longer
	// in the context.
	AddMark(ctx context.Context, m Mark) error
	// Marks returns the marks of one kind of all subjects, oldest first.
	Marks(ctx context.Context, kind string) ([]Mark, error)
}

// ErrNotFound means that no segment has the given id.
var ErrNotFound = errors.New("segment not found")

// ErrDecided means that another decision was stored for a place first. That one is in force.
var ErrDecided = errors.New("the place is decided already")

// ErrValue means that the ledger works, but cannot hold a value that it was given.
var ErrValue = errors.New("a value cannot be stored")

// Entry is a segment to store, with its text.
type Entry struct {
	Segment
	Text string

	// Key, if set, identifies a delivery: an entry with a known key is not stored again.
	Key []byte
	// Called, if set, is the key of an entry that may have been stored with the same text: that one then gets Key.
	Called []byte
}

// maxPath is the longest path in bytes that a database's index holds beside the names of subject and project.
const maxPath = 1024

// Complete fills in the missing fields of an entry that a ledger is about to store. A model may call a tool with any path: one that no
// index holds is left out.
func (e *Entry) Complete(now time.Time) error {
	if !ValidID(e.Project) || e.ID != "" && !ValidID(e.ID) {
		return fmt.Errorf("bad project or segment id %q %q", e.Project, e.ID)
	}
	if e.Created.IsZero() {
		e.Created = now
	}
	if e.Touched.IsZero() {
		e.Touched = e.Created
	}
	if len(e.Path) > maxPath {
		e.Path = ""
	}
	e.Type, e.Tier = cmp.Or(e.Type, Log), cmp.Or(e.Tier, Working)
	e.Hash, e.Bytes = sha256.Sum256([]byte(e.Text)), len(e.Text)
	return nil
}

// OldAfter is the number of collections of its project after which a segment is old.
const OldAfter = 3

// Reference names a segment.
type Reference struct {
	Project string             // "": any
	ID      string             // as the caller was given it
	Hash    *[sha256.Size]byte // of the text; nil: ID is the segment's own
}

// Filter holds the conditions of a list. Empty fields match anything.
type Filter struct {
	Project, Task, Session string
	Tier                   Tier
}

// Action is a change to a segment.
type Action string

const (
	Stash  Action = "stash"  // removed from the context, but can still be found and read
	Delete Action = "delete" // removed for good
	Pin    Action = "pin"    // protected from pruning
	Unpin  Action = "unpin"
	Touch  Action = "touch" // used once more, just now
)

// Changed is the result of a change.
type Changed struct {
	Segments []string // those that were changed; never nil
	Errors   []string // a text for each of the others; never nil
	Freed    int      // tokens that are no longer in the context
	Pinned   int      // number of segments refused because they are pinned
}

// ErrNoAction means that a segment cannot be changed in such a way.
var ErrNoAction = errors.New("no such change")

// Held is the ledger's record of a segment that is to be changed.
type Held struct {
	Known  bool
	Tokens int
	Pinned bool
	Tier   Tier
}

// Admit reports whether a segment may be changed, and counts it or the reason in the result.
func (c *Changed) Admit(id string, action Action, s Held) bool {
	prunes := action == Stash || action == Delete
	switch {
	case !s.Known:
		c.Errors = append(c.Errors, "Segment "+id+" not found")
		return false
	case prunes && s.Pinned:
		c.Errors = append(c.Errors, "Segment "+id+" is pinned and cannot be pruned")
		c.Pinned++
		return false
	case action == Stash && s.Tier == Stashed:
		c.Errors = append(c.Errors, "Segment "+id+" is stashed already")
		return false
	}
	c.Segments = append(c.Segments, id)
	if prunes && s.Tier == Working {
		c.Freed += s.Tokens
	}
	return true
}

// Place is a point of a history at which clearings were decided. Marks identify it: hashes of the results and words that
// stand there. A client that edits some of them leaves the others, and one is enough to recognise the place.
type Place struct {
	ID     [32]byte   // of the decision
	Parent [32]byte   // the latest decision before it in the history; zero: none
	Marks  [][32]byte // none of them belongs to another place

	Why  string // what the planner said to the decision
	Pays int    // calls after which the clearing has paid; 0: it cost nothing
}

// Clearing is the decision to show a stub instead of a result, in every history that
// contains the result and passes the place of the decision. Decisions never change, so the
// same history is always sent as the same bytes.
type Clearing struct {
	Item    [32]byte // hash of the result
	Since   [32]byte // id of the place
	Parent  [32]byte // id of the latest place before it with a decision; zero: none
	Segment string   // id of the segment with the result's text
	Stub    string
	Tokens  int
	Free    bool // the provider's cache had expired, so clearing cost nothing
}

// Mark is what happened to a session at a time, such as a compaction by the client.
type Mark struct {
	Subject, Session, Project, Kind, Detail string
}

const (
	Compacted = "compacted"
	LeftAlone = "left alone" // the API refused a changed request: nothing of the session is changed any more
	NoMark    = "no mark"    // usage showed that a cache mark of ours brings nothing
)

// Limits bound the ledger. The zero value sets no limit.
type Limits struct {
	Age   time.Duration // sessions that were not used for longer are removed
	Bytes int64         // above this size the sessions not used for longest are removed
}

// Forgotten selects the data that a ledger forgets: a project, a session, or all that a subject has.
type Forgotten struct {
	Project, Session string
	All              bool
}

// InUse is how long a session stays although the ledger is too large: its client may go on, and what it was
// sent must not change.
const InUse = 24 * time.Hour

// Size is the content of the ledger.
type Size struct {
	Segments int       `json:"segments"`
	Pinned   int       `json:"pinned"`
	Sessions int       `json:"sessions"`
	Bytes    int64     `json:"bytes"` // of the file, without its unused pages
	Oldest   time.Time `json:"oldest,omitzero"`
}
