package states

import (
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// Delivery holds the facts about one call and its answer, for observers. It no longer
// changes once Ended is called, and may be kept. A kept delivery keeps its texts and
// Machine in memory.
type Delivery struct {
	Machine *fsm.Machine // the request's id, start, steps and metadata
	Session string       // "" when the call has no session
	Client  string
	Parent  string // caller's span, in W3C traceparent form; "" when it gave none
	Owner   string // subject of the request: who called; "" for the owner of the machine
	User    string // whom the reverse proxy named, or ""
	Tool    string // as spelled by the client; "" when it gave no name

	Call     tools.Call    // nil when the arguments were invalid
	Question string        // focus question; "" when there was none
	Subject  tools.Subject // subject of the call; zero when the tool names none
	Key      string        // pseudonym of the subject within the session; "" without subject
	Source   tools.Source  // origin of the output; zero when the tool failed
	Pruning  PruningMetadata
	PruneID  string // id of the stored original; "" when nothing was cut

	Saving *tools.Saving // saving by the tool's own pruning; nil: it has none

	Text    string // the text answered
	Notice  string // notice in brackets after the text; "" when there is none
	IsError bool
	Opaque  bool // the answer of another server was sent; Text is its text
	Wire    int  // bytes of the message that carries the answer; 0: there is no answer

	// Err says why the answer was not delivered whole; nil if it was. It is only valid in
	// Ended.
	Err error

	raw  tools.Output // output before pruning
	note trace.Note   // note of the call, then of its answer, in the trace
}

// Whole reports whether the text is all of the subject: it was not pruned, and the call did
// not ask for a part only.
func (d *Delivery) Whole() bool { return d.PruneID == "" && !d.Pruning.Applied && !d.Subject.Part }

// Raw returns the text and notice that would have been answered without pruning.
func (d *Delivery) Raw() (text, notice string) {
	if d.raw == nil {
		return d.Text, d.Notice
	}
	return d.raw.Text(), noticeOf(d.raw)
}

// Tokens estimates the tokens that a model reads: text and notice without pruning, text and
// notice as sent, and the question.
func (d *Delivery) Tokens() (raw, sent, question int) {
	count := tokens.Estimate
	if d.raw != nil { // the difference of two estimates needs more accurate ones
		count = tokens.EstimateWell
	}
	sent = shownTokens(count, d.Text, d.Notice)
	raw = sent
	if d.raw != nil {
		text, notice := d.Raw()
		raw = shownTokens(count, text, notice)
	}
	return raw, sent, tokens.Estimate(d.Question)
}

func shownTokens(count func(string) int, text, notice string) int {
	if notice == "" {
		return count(text)
	}
	return count(text) + tokens.Estimate(notice) + brackets
}

// brackets is the size of the brackets around a notice.
const brackets = len("[]")

// shownBytes returns the size of a text together with its notice.
func shownBytes(text, notice string) int {
	if notice == "" {
		return len(text)
	}
	return len(text) + len(notice) + brackets
}

// Observer is notified of deliveries. A panic in an observer does not affect the answer.
type Observer interface {
	// Answering is called before the first byte of the answer is written, and delays the
	// answer. It is not called for a call without an answer.
	Answering(*Delivery)
	// Ended is called once for every call: when its answer was written, could not be
	// written, or is no longer wanted.
	Ended(*Delivery)
}

// Starter is an Observer that is also told of a call whose tool is about to run. Whatever it keeps then says that the
// call was under way if the process is killed. It must not block.
type Starter interface {
	Starting(*Delivery)
}

// tell calls an observer and recovers a panic, so that a bug in one never costs a client
// its answer.
func tell(observe func(*Delivery), d *Delivery) {
	defer func() { _ = recover() }()
	observe(d)
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
