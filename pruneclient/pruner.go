// Package pruneclient is how output gets pruned: the swe-pruner HTTP contract
// here, our own line pruner in lineprune, and what adapts the one to the other.
package pruneclient

import "context"

// Request is one text and the question to prune it to.
type Request struct {
	Code  string // what the tool produced
	Query string // the trimmed focus question

	// What the code is, where known; the embedded pruner detects the rest.
	File    string // the file it was read from
	Command string // the command that printed it
	Grep    bool   // lines of path:line:column:text; markers must be left out

	FirstLine int // number of the code's first line in File; 0 and 1 are the same

	RecoveryID  string // names the stored original in headers and markers; "" when none is kept
	RecoverTool bool   // whoever reads the result can call recover_text
}

// Result is what a pruner made of a Request.
type Result struct {
	Text string // the pruned text, exactly as it is to be shown
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
