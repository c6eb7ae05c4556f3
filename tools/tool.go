// Package tools holds what an agent can call: read, bash and grep. Each tool
// keeps its name, description, schema, checks and code together in one file.
//
// The package knows nothing of MCP, of the request machine or of pruning: a
// tool takes arguments, says what is wrong with them, and turns a checked call
// into an [Output] or an [Error].
package tools

import (
	"context"
	"encoding/json"
	"strings"
)

// Tool is one entry of tools/list together with the code behind it.
type Tool struct {
	Name        string
	Description string // under 1,000 characters
	InputSchema json.RawMessage
	Root        string // where its paths have to stay; "" when it has none
	ReadOnly    bool   // changes nothing: clients may run it unasked and in parallel
	Destructive bool   // may change anything

	// Listed are further fields of the tool in tools/list, which win over those made
	// of the fields above: of a tool that is another server's.
	Listed map[string]json.RawMessage

	// Check looks at the arguments as text only, without touching the file
	// system, and returns either a call that can run or every violation found.
	// Paths of the issues are relative to the arguments object ("file_path").
	Check func(args map[string]any) (Call, []Issue)
}

// Issue is one violation in a call's arguments. Code is one of zod v3's issue
// codes; Path is dot-joined and relative to the arguments ("" is the object).
type Issue struct {
	Path string
	Code string
}

// Call is one checked call.
type Call interface {
	// FocusQuestion is the trimmed context_focus_question, "" when not asked.
	FocusQuestion() string
	// Run does the work. It obeys ctx (cancelled means: kill, drop, return) and
	// the call's own timeout. The error, when not nil, is an *Error or, when ctx
	// ended, ctx's error.
	Run(ctx context.Context) (Output, error)
}

// Output is what a tool produced, after truncation and before or after pruning.
type Output interface {
	// Code is the text a pruner gets; its bytes are pruning.raw_bytes.
	Code() string
	// Source says what the code is, to help a pruner: a file name or a command.
	Source() Source
	// Prune returns the output with code replaced by what the pruner returned. It
	// fails when the tool cannot read the pruned text back (grep).
	Prune(pruned string) (Output, error)
	// Text is content[0].text: what a client that shows text shows.
	Text() string
	// Structured is the document's structuredContent with the given metadata
	// under "pruning", ready to be marshalled.
	Structured(pruning any) any
}

// Opaque is an answer that passes through as another MCP server gave it. An [Output]
// or an [Error] that carries one is answered with it; the text view beside it is what
// pruners, traces and ledgers look at.
type Opaque struct {
	Content    []json.RawMessage          // content blocks; nil: one text block of the text view
	Structured json.RawMessage            // structuredContent; nil: none
	Meta       map[string]json.RawMessage // _meta; keys that start with "jeeves/" are added to it
	IsError    bool

	// RPC, when set, is the JSON-RPC error that answers the call; nothing above counts.
	RPC *RPCError
}

// RPCError is a JSON-RPC error as another server gave it.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Opaquer is an Output that may carry an opaque answer; nil: its text is the answer.
type Opaquer interface{ Opaque() *Opaque }

// Noticer is an Output with something to say that its text does not: that it was
// cut and where to go on, an exit code, that nothing was found. "" says nothing.
type Noticer interface{ Notice() string }

// Saver is an Output that is a text of the caller's after pruning.
type Saver interface{ Saved() Saving }

// Saving is what pruning a text of the caller's came to, in estimated tokens.
type Saving struct {
	Before, After int
	Why           string // the text came back whole; "" when it was pruned
}

// keptNone is the notice on a text of which a pruner kept nothing: without it, an
// empty text would say that there was nothing. otherwise is how to see it where the
// original was not stored.
func keptNone(what, storedAs, otherwise string) string {
	if storedAs == "" {
		return strings.TrimSuffix("the pruner kept none of "+what+"; "+otherwise, "; ")
	}
	return "the pruner kept none of " + what + readIt(storedAs, "it")
}

// readIt says how to see what is stored; "" when nothing is.
func readIt(id, what string) string {
	if id == "" {
		return ""
	}
	return "; read file_path=" + id + " shows " + what
}

// blank says that a pruned text shows nothing.
func blank(pruned string) bool { return strings.TrimSpace(pruned) == "" }

// Source describes where an output came from: a file, a command, or matches.
type Source struct {
	File    string // read: file_path as given
	Command string // bash: the command line
	Grep    bool   // grep: lines of path:line:column:text

	FirstLine int // read: number of the code's first line in the file; 0 and 1 are the same
}

// Error is a tool error: the call was valid and the work failed.
type Error struct {
	Code      string // not_found, timeout, nonzero_exit, ...
	Message   string
	ExitCode  *int    // of the subprocess, where one ended
	Stdout    *string // bash: what was printed before it failed
	Stderr    *string
	TimeoutMS int // > 0 when the call ran into its timeout

	Opaque *Opaque // the answer as another server gave it; nil: the text of this error
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Text is content[0].text of a failed call: the error line first, because some
// clients show a model no other sign of an error, then what was printed.
func (e *Error) Text() string {
	text := "Error (" + e.Code + "): " + e.Message
	if e.Stdout == nil && e.Stderr == nil {
		return text
	}
	return text + "\n" + joinStreams(deref(e.Stdout), deref(e.Stderr))
}

// Structured is the document's structuredContent of a failed call.
func (e *Error) Structured(tool string, pruning any) any {
	type detail struct {
		Code     string `json:"code"`
		Message  string `json:"message"`
		ExitCode *int   `json:"exit_code,omitempty"`
	}
	return struct {
		Tool    string  `json:"tool"`
		Error   detail  `json:"error"`
		Stdout  *string `json:"stdout,omitempty"`
		Stderr  *string `json:"stderr,omitempty"`
		Pruning any     `json:"pruning"`
	}{tool, detail{e.Code, e.Message, e.ExitCode}, e.Stdout, e.Stderr, pruning}
}

// OutputBytes is the size of the stream a pruner would have got: stdout, or stderr
// where there is no stdout.
func (e *Error) OutputBytes() int {
	if n := len(deref(e.Stdout)); n > 0 {
		return n
	}
	return len(deref(e.Stderr))
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

const stderrMark = "[stderr]\n"

// joinStreams puts stderr below stdout under a line that says so when both are
// there; one that is alone stands as it is.
func joinStreams(stdout, stderr string) string {
	switch {
	case stderr == "":
		return stdout
	case stdout == "":
		return stderr
	case stdout[len(stdout)-1] != '\n':
		stdout += "\n"
	}
	return stdout + stderrMark + stderr
}
