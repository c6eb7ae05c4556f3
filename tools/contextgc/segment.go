// Package contextgc keeps a ledger of everything an agent was given, scores what
// of it is worth keeping, and plans what to take out of the context and when.
//
// A [Segment] is one result of a tool, or one message. The [Store] keeps segments
// with their texts in one SQLite file that several processes may share. [Analyze]
// and [MakePlan] are the design's garbage collection over such segments. [Planner]
// decides when clearing old results from a conversation pays, at the prices of a
// prompt cache.
package contextgc

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"regexp"
	"time"
)

// Type says what kind of text a segment is.
type Type string

// The types of segments.
const (
	Message  Type = "message"
	Code     Type = "code"
	Log      Type = "log"
	Note     Type = "note"
	Decision Type = "decision"
	Summary  Type = "summary"
)

// Types lists every type of segment.
func Types() []Type { return []Type{Message, Code, Log, Note, Decision, Summary} }

// Tier says where a segment stands: in the agent's context or out of it.
type Tier string

// The tiers.
const (
	Working Tier = "working"
	Stashed Tier = "stashed"
)

// Segment is one entry of the ledger. Its text is kept apart, by its hash.
type Segment struct {
	ID      string // short and unique, such as s12
	Project string
	Task    string
	Session string

	Type      Type
	Tool      string // that produced it
	Path      string // of the file it shows, where known
	FirstLine int    // of that file; 0: the whole file or not known
	LastLine  int

	Tokens int
	Bytes  int

	Created time.Time
	Touched time.Time // last used

	Pinned     bool
	Tier       Tier
	Old        bool // it survived several collections
	References int  // how often it was referred to
	Tags       []string
	Topic      string

	Hash         [sha256.Size]byte // of the text
	SupersededBy string            // a later segment that shows the same lines of the same file
}

var idPattern = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// ValidID reports whether a text can be the id of a segment, project or task.
func ValidID(id string) bool { return idPattern.MatchString(id) }

var notInID = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// CleanID turns any text into a valid id.
func CleanID(text string) string {
	id := notInID.ReplaceAllString(text, "-")
	switch {
	case id == "":
		return "default"
	case len(id) > 128:
		return id[:128]
	}
	return id
}

// ProjectOf names the project of a root: by its last element, and a few digits that
// tell it from others of that name.
func ProjectOf(root string) string {
	sum := sha256.Sum256([]byte(root))
	return fmt.Sprintf("%.100s-%x", CleanID(filepath.Base(root)), sum[:2])
}
