package states

import (
	"mcp-pruner/fsm"
	"mcp-pruner/tools"
)

// AnswerKind says which of the wire's shapes a call is answered with.
type AnswerKind int

// The kinds of answers.
const (
	NoAnswer      AnswerKind = iota // cancelled: nothing is written
	Malformed                       // the line was no request
	InvalidParams                   // Issues say why
	Failed                          // an internal error; nothing of it is shown
	Result                          // a tool's result, which may be a tool error
)

// Answer is what a transport writes for a call.
type Answer struct {
	Kind   AnswerKind
	Issues []Issue
	Advice string // of Issues in words; "" when there is nothing to say beyond them

	Text       string // content[0].text
	Notice     string // what the text alone does not say: cut, exit code, nothing found
	Structured any    // structuredContent, with the metadata in it
	IsError    bool
	Pruning    PruningMetadata
	PruneID    string // names the stored original; "" when nothing was cut
	Repeat     bool   // returned whole because it was asked for again

	Opaque *tools.Opaque // what is answered instead of Text and Structured; nil: those
}

// Answer is what the client is to be told, by the state the machine is in.
func (c *Call) Answer() Answer {
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
		return Answer{Kind: Result, Notice: c.notice, Pruning: c.pruning, PruneID: c.pruneID, Repeat: c.repeat,
			Opaque: opaqueOf(c.output), Text: c.sent, Structured: c.output.Structured(c.pruning)}
	default:
		return Answer{Kind: Failed}
	}
}

// joinNotes makes one note of two, either of which may be empty.
func joinNotes(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

func noticeOf(o tools.Output) string {
	if n, ok := o.(tools.Noticer); ok {
		return n.Notice()
	}
	return ""
}

func opaqueOf(o tools.Output) *tools.Opaque {
	if p, ok := o.(tools.Opaquer); ok {
		return p.Opaque()
	}
	return nil
}
