// Package tools holds the tools that an agent can call: read, bash and grep. Each tool's
// name, description, schema, checks and code are in one file.
//
// The package knows nothing of MCP, of the request machine or of pruning: a tool checks
// arguments, and runs a checked call, which gives an [Output] or an [Error].
package tools

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// Tool is one entry of tools/list with its code.
type Tool struct {
	Name        string
	Description string // under 1,000 characters
	InputSchema json.RawMessage
	Root        string // directory that its paths may not leave; "" when it has none
	ReadOnly    bool   // changes nothing: clients may run it without asking and in parallel
	Destructive bool   // may change anything
	AlwaysLoad  bool   // asks Claude to load its schema at the start
	Upstream    string // server that does the work, for tools of other servers; "": this program

	// Listed are further fields of the tool in tools/list. They override those made from
	// the fields above, and are used for tools of other servers.
	Listed map[string]json.RawMessage

	// Check checks the arguments as text only, without accessing the file system, and
	// returns either a call that can run or every violation found. Paths of the issues are
	// relative to the arguments object ("file_path").
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
	// FocusQuestion returns the trimmed context_focus_question, "" if there is none.
	FocusQuestion() string
	// Run does the work. It stops when ctx ends or the call's own timeout expires: it then
	// kills its processes and drops their output. The error is nil, an *Error or, if ctx
	// ended, ctx's error.
	Run(ctx context.Context) (Output, error)
}

// Output is the output of a tool, after truncation and before or after pruning.
type Output interface {
	// Code returns the text given to a pruner; its size is pruning.raw_bytes.
	Code() string
	// Source describes the origin of the code for a pruner: a file name or a command.
	Source() Source
	// Prune returns the output with its code replaced by the pruner's answer. It fails if
	// the tool cannot parse the pruned text (grep).
	Prune(pruned string) (Output, error)
	// Text returns content[0].text, which clients show.
	Text() string
	// Structured returns the design's structuredContent with the given metadata under
	// "pruning", ready to be marshalled.
	Structured(pruning any) any
}

// Opaque is an answer passed on unchanged from another MCP server. An [Output] or [Error]
// with one is answered with it; pruners, traces and ledgers use the text of the Output or
// Error.
type Opaque struct {
	Content    []json.RawMessage          // content blocks; nil: one block with the text
	Structured json.RawMessage            // structuredContent; nil: none
	Meta       map[string]json.RawMessage // _meta; keys that start with "jeeves/" are added to it
	IsError    bool

	// More are the other members of the result, such as a task. nil as a value: the result does not have that member.
	More map[string]json.RawMessage

	// RPC, if set, is the JSON-RPC error that answers the call; the fields above are
	// ignored.
	RPC *RPCError
}

// RPCError is a JSON-RPC error from another server.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Opaquer is an Output that may have an opaque answer; nil: its text is the answer.
type Opaquer interface{ Opaque() *Opaque }

// Noticer is an Output with facts that its text does not show: that it was cut and where to
// continue, an exit code, that nothing was found. "" means none.
type Noticer interface{ Notice() string }

// Saver is an Output that is the pruned form of a text supplied by the caller.
type Saver interface{ Saved() Saving }

// Saving is the effect of pruning a caller's text, in estimated tokens.
type Saving struct {
	Before, After int
	Why           string // why the text was returned whole; "" when it was pruned
}

// keptNone returns the notice for a text of which the pruner kept nothing: an empty text
// alone would mean that there was no output. otherwise says how to see the text if the
// original was not stored.
func keptNone(what, storedAs, otherwise string) string {
	if storedAs == "" {
		return strings.TrimSuffix("the pruner kept none of "+what+"; "+otherwise, "; ")
	}
	return "the pruner kept none of " + what + readIt(storedAs, "it")
}

// readIt says how to read a stored text; it is "" if none is stored.
func readIt(id, what string) string {
	if id == "" {
		return ""
	}
	return "; read file_path=" + id + " shows " + what
}

// searchIt says how to find something in a line that is longer than a result may be.
func searchIt(path string) string {
	return "grep path=" + files.Quoted(path) + " what is around a match"
}

// blank reports whether a pruned text has only white space.
func blank(pruned string) bool { return strings.TrimSpace(pruned) == "" }

// Source describes the origin of an output: a file, a command, or a search.
type Source struct {
	File    string // read: file_path as given
	Command string // bash: the command line
	Grep    bool   // grep: lines of path:line:column:text

	FirstLine int // read: number in the file of the code's first line; 0 and 1 are the same
}

// Error is a tool error: the call was valid, but the work failed.
type Error struct {
	Code      string // not_found, timeout, nonzero_exit, ...
	Message   string
	ExitCode  *int    // of the subprocess, if one ended
	Stdout    *string // bash: output before the failure
	Stderr    *string
	TimeoutMS int // > 0 when the call ran into its timeout

	Opaque *Opaque // answer of another server; nil: the text of this error
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Text returns content[0].text of a failed call: the error line, because some clients show
// a model no other sign of an error, and then the output.
func (e *Error) Text() string {
	text := "Error (" + e.Code + "): " + e.Message
	if e.Stdout == nil && e.Stderr == nil {
		return text
	}
	return text + "\n" + joinStreams(deref(e.Stdout), deref(e.Stderr))
}

// Structured returns the design's structuredContent for a failed call.
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

// OutputBytes returns the size of the stream that a pruner would have received: stdout or,
// if it is empty, stderr.
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

// joinStreams puts stderr after stdout, under a separator line if both have output. A
// single stream is returned as it is.
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
