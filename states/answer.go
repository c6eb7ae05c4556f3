package states

import (
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// AnswerKind is the form of an answer on the wire.
type AnswerKind int

const (
	NoAnswer      AnswerKind = iota // cancelled: no answer is written
	Malformed                       // the line was not a request
	InvalidParams                   // Issues has the violations
	Failed                          // an internal error; the answer gives no details
	Result                          // the result of a tool, which may be a tool error
)

// Answer is the answer that a transport writes for a call.
type Answer struct {
	Kind   AnswerKind
	Issues []Issue
	Advice string // Issues in words; "" when the words would add nothing

	Text       string // content[0].text
	Notice     string // facts missing from the text: that it was cut, an exit code
	Structured any    // structuredContent, with the metadata in it
	IsError    bool
	Pruning    PruningMetadata
	PruneID    string // id of the stored original; "" when nothing was cut
	Repeat     bool   // returned whole because the call repeats one whose output was pruned
	Fallback   string // StoreFull if that is why the output is whole; else ""

	Opaque *tools.Opaque // answered instead of Text and Structured; nil: those are answered
}

// Answer returns the answer for the client, according to the machine's state.
func (c *Execution) Answer() Answer {
	switch state := c.machine.State(); {
	case c.dropped:
		return Answer{Kind: NoAnswer}
	case state == fsm.InvalidRequest && c.request.Malformed != "":
		return Answer{Kind: Malformed}
	case state == fsm.InvalidRequest:
		return Answer{Kind: InvalidParams, Issues: c.issues, Advice: c.advice}
	case state == fsm.ToolError:
		c.sent = c.failure.Text()
		return Answer{Kind: Result, IsError: true, Pruning: c.pruning, Opaque: c.failure.Opaque,
			Text: c.sent, Structured: c.failure.Structured(c.toolName, c.pruning)}
	case state == fsm.RespondRaw || state == fsm.RespondPruned:
		c.sent, c.notice = c.output.Text(), joinNotes(c.unpruned, noticeOf(c.output))
		return Answer{Kind: Result, Notice: c.notice, Pruning: c.pruning, PruneID: c.pruneID, Repeat: c.repeat, Fallback: c.fallback,
			Opaque: opaqueOf(c.output), Text: c.sent, Structured: c.output.Structured(c.pruning)}
	default:
		return Answer{Kind: Failed}
	}
}

// joinNotes joins two notes into one. Either may be empty.
func joinNotes(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
