// Package contextgc keeps a ledger of everything an agent was shown, scores which parts are
// worth keeping, and plans what to remove from the context, and when.
//
// A [Segment] is one tool result or one message. A [Ledger] keeps segments with their texts;
// states/store has one. [Toolset] implements the design's garbage collection of
// segments. Package planner decides when clearing old results from a conversation pays off.
package contextgc

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Type is the kind of text in a segment.
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

// types returns every type of segment.
func types() []Type { return []Type{Message, Code, Log, Note, Decision, Summary} }

// Tier says whether a segment is in the agent's context.
type Tier string

const (
	Working Tier = "working"
	Stashed Tier = "stashed"
)

// Segment is one entry of the ledger. Its text is stored separately, under its hash.
type Segment struct {
	Subject string // whose it is; "": the owner of the machine, or of the context in which it is stored
	ID      string // short and unique within a project, such as s12
	Project string
	Task    string
	Session string

	Type      Type
	Tool      string // tool that produced the text
	Path      string // file that the text shows, if known
	FirstLine int    // first line of the file shown; 0: the whole file, or unknown
	LastLine  int

	Tokens int
	Bytes  int

	Created time.Time
	Touched time.Time // last used

	Pinned     bool
	Tier       Tier
	Old        bool // it has been kept by several collections
	References int  // number of uses
	Tags       []string
	Topic      string

	Hash         [sha256.Size]byte // of the text
	SupersededBy string            // id of a later segment that shows the same lines of the same file
}

var idPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`) })

// ValidID reports whether a text is a valid id of a segment, project or task.
func ValidID(id string) bool { return idPattern().MatchString(id) }

var notInID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9._-]+`) })

// CleanID converts any text to a valid id.
func CleanID(text string) string {
	id := notInID().ReplaceAllString(text, "-")
	switch {
	case id == "":
		return "default"
	case len(id) > 128:
		return id[:128]
	}
	return id
}

// ProjectOf returns the project name of a root directory: its last path element, and a few
// hex digits that distinguish it from other roots with that name.
func ProjectOf(root string) string {
	sum := sha256.Sum256([]byte(root))
	return fmt.Sprintf("%.100s-%x", CleanID(filepath.Base(root)), sum[:2])
}

// SessionID returns the name of a client's session in the ledger. It is the same for the session's hooks
// and for its requests to the API.
func SessionID(given string) string {
	sum := sha256.Sum256([]byte(given))
	return "sess_" + hex.EncodeToString(sum[:8])
}

// CallKey returns the key of the result of a call, in a session by its name in the ledger: a hook has it for what it stores, and the
// proxy for the same result in a request, which may be the same text in another form. It is nil if another call may have that id, too.
func CallKey(session, call string) []byte {
	if !Distinctive(call) {
		return nil
	}
	sum := sha256.Sum256([]byte("call\x00" + session + "\x00" + call))
	return sum[:]
}

// Distinctive reports whether a call id is unique everywhere, as those of the large providers are. Local servers send
// call_0 or functions.bash:3, which other sessions have, too.
func Distinctive(id string) bool {
	for part := range strings.FieldsFuncSeq(strings.ReplaceAll(id, "-", ""), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(part) >= 16 && strings.ContainsAny(part, "0123456789") {
			return true
		}
	}
	return false
}
