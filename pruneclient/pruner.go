// Package pruneclient is how output gets pruned: the swe-pruner HTTP contract
// here, our own line pruner in lineprune, and what adapts the one to the other.
package pruneclient

import (
	"context"

	"mcp-pruner/pruneclient/lineprune"
	"mcp-pruner/pruneclient/lineprune/session"
)

// Event is one thing that was said or done earlier in the session.
type Event = session.Event

// Request is one text, the question to prune it to, and what is known about both. Only
// Text and Question are needed; a pruner detects or does without the rest.
type Request struct {
	Question string // the trimmed focus question
	Text     string // what the tool produced

	SourceType lineprune.Kind // what the text is; lineprune.Auto detects it
	Budget     float64        // > 0: at most this share of the tokens is kept
	Shown      float64        // > 0: of a text that comes back whole only this share will be shown

	Tool    string         // the tool that produced the text
	Args    map[string]any // its arguments, as decoded from JSON
	Context []Event        // what the session did before, most recent first

	File    string // the file the text was read from
	Command string // the command that printed it
	Grep    bool   // lines of path:line:column:text; markers must be left out

	FirstLine int // number of the text's first line in File; 0 and 1 are the same

	RecoveryID string // names the stored original, for read; "" when none is kept
}

// Result is what a pruner made of a Request.
type Result struct {
	Text string // the pruned text, exactly as it is to be shown
	Note string // why the text came back whole, in at most 30 tokens; "" where it did not
}

// Pruner prunes one text. It obeys ctx and its own timeout, and fails only with
// an *Error (or ctx's error when the caller gave up).
type Pruner interface {
	Prune(ctx context.Context, req Request) (Result, error)
	// Endpoint names the pruner in events: a URL without credentials, or "embedded".
	Endpoint() string
}

// ErrorCode says how a pruner failed, in the document's words.
type ErrorCode string

// The three ways a pruner fails.
const (
	Timeout         ErrorCode = "timeout"
	HTTPError       ErrorCode = "http_error"
	InvalidResponse ErrorCode = "invalid_response"
)

// Error is a failed prune. Message never quotes the pruner's own text.
type Error struct {
	Code    ErrorCode
	Message string
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }
