// Package pruneclient prunes the output of tools. It contains the client of the swe-pruner HTTP contract,
// and an adapter for the embedded line pruner in package lineprune.
package pruneclient

import (
	"context"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

// Event is one earlier event of the session.
type Event = session.Event

// Request is a text to prune, the question to prune it for, and what is known about both. Only Text and
// Question are required; a pruner detects the rest or does without.
type Request struct {
	Question string // the trimmed focus question
	Text     string // the output of the tool

	SourceType lineprune.Kind // kind of the text; lineprune.Auto detects it
	Budget     float64        // > 0: the largest fraction of the tokens to keep
	Ends       float64        // > 0: nobody asked anything: see lineprune.Options
	Shown      float64        // > 0: the fraction of the text that the client will show if it comes back whole

	Tool    string         // the tool that produced the text
	Args    map[string]any // its arguments, as decoded from JSON
	Context []Event        // earlier events of the session, most recent first

	File    string // the file the text was read from
	Command string // the command that printed it
	Grep    bool   // lines of path:line:column:text; markers must be left out

	FirstLine int // number of the text's first line in File; 0 means 1

	RecoveryID string // id of the stored original, for the read tool; "" if none is stored
}

// Result is a pruner's answer to a Request.
type Result struct {
	Text string // the pruned text, exactly as it will be shown
	Note string // why the text came back whole, in at most 30 tokens; "" if it did not
}

// Pruner prunes one text. It ends by ctx and its own timeout, and returns only an *Error, or ctx's error if
// the caller cancelled.
type Pruner interface {
	Prune(ctx context.Context, req Request) (Result, error)
	// Endpoint returns the pruner's name in events: a URL without credentials, or "embedded".
	Endpoint() string
}

// ErrorCode is the kind of a pruner's failure, as named in the design document.
type ErrorCode string

// The three kinds of failure.
const (
	Timeout         ErrorCode = "timeout"
	HTTPError       ErrorCode = "http_error"
	InvalidResponse ErrorCode = "invalid_response"
)

// Error is the failure of a pruning. Message never quotes the pruner's own text.
type Error struct {
	Code    ErrorCode
	Message string
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }
