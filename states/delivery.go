package states

import (
	"context"
	"errors"
	"strings"
	"sync"
	"unicode/utf8"

	"mcp-pruner/fsm"
	"mcp-pruner/fsm/trace"
	"mcp-pruner/tools"
	"mcp-pruner/tools/tokens"
)

// Delivery is what observers learn of one call: what it asked for and what it was
// answered. It does not change any more when Ended is called, and may be kept; its
// texts keep their memory, and so does Machine.
type Delivery struct {
	Machine *fsm.Machine // the request's id, start, steps and metadata
	Session string       // "" when the call stands alone
	Client  string
	Parent  string // the caller's span, as W3C traceparent has it; "" when it named none
	Tool    string // as the client spelled it; "" when there was no name

	Call     tools.Call    // nil when its arguments were refused
	Question string        // why the agent asked; "" when it did not say
	Subject  tools.Subject // what the call is about; zero when the tool does not say
	Key      string        // names the subject within the session and to nobody else; "" without subject
	Source   tools.Source  // what the output is; zero when the tool failed
	Pruning  PruningMetadata
	PruneID  string // of the stored original; "" when nothing was cut

	Saving *tools.Saving // what the tool pruned itself; nil: it prunes nothing

	Text    string // the text answered
	Notice  string // the note in brackets after it; "" when there is none
	IsError bool
	Opaque  bool // another server's answer went out; Text is its text view
	Wire    int  // bytes of the message that carries the answer; 0: nobody is answered

	// Err says why the answer did not go out whole; nil once it did. Before Ended it
	// means nothing.
	Err error

	raw  tools.Output // before pruning
	note trace.Note   // of the trace
}

// Whole says whether the text is all of the subject: neither pruned nor asked for in
// part.
func (d *Delivery) Whole() bool { return d.PruneID == "" && !d.Pruning.Applied && !d.Subject.Part }

// Raw returns what would have been answered without pruning.
func (d *Delivery) Raw() (text, notice string) {
	if d.raw == nil {
		return d.Text, d.Notice
	}
	return d.raw.Text(), noticeOf(d.raw)
}

// Tokens estimates what a model reads: the text with its notice as it would have been
// without pruning, as it was sent, and the question.
func (d *Delivery) Tokens() (raw, sent, question int) {
	count := tokens.Estimate
	if d.raw != nil { // a difference of two estimates wants better ones
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

// brackets stand around a notice.
const brackets = len("[]")

// shownBytes is the size of a text and of its notice.
func shownBytes(text, notice string) int {
	if notice == "" {
		return len(text)
	}
	return len(text) + len(notice) + brackets
}

// Observer learns what was delivered. A panic in an observer costs no answer.
type Observer interface {
	// Answering is called before the first byte of the answer is written, and delays
	// it. It is not called for a call that is not answered.
	Answering(*Delivery)
	// Ended is called once for every call, when its answer is written, could not be
	// written, or is not wanted any more.
	Ended(*Delivery)
}

// unwritten are the calls whose answers are on their way.
type unwritten struct {
	mu    sync.Mutex
	calls map[*Call]struct{}
}

func (u *unwritten) add(c *Call) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.calls == nil {
		u.calls = make(map[*Call]struct{})
	}
	u.calls[c] = struct{}{}
}

func (u *unwritten) remove(c *Call) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.calls, c)
}

func (u *unwritten) all() []*Call {
	u.mu.Lock()
	defer u.mu.Unlock()
	list := make([]*Call, 0, len(u.calls))
	for c := range u.calls {
		list = append(list, c)
	}
	return list
}

// errEnded: the process ends and the client has not read all of its answer.
var errEnded = errors.New("the process ended before the answer was written")

// Abandon ends the calls whose answers have not been written completely. It is called
// when the process is about to end, and nothing is written after it.
func (p *Pipeline) Abandon(ctx context.Context) {
	for _, c := range p.unwritten.all() {
		c.WriteFailed(ctx, errEnded)
	}
	for _, closing := range p.Closers {
		_ = closing() // observers tell of their own failures
	}
}

// Answering tells the call that its answer of so many bytes is about to be written; 0
// means that there is none, and ends the call.
func (c *Call) Answering(wire int) {
	if wire == 0 {
		c.end(nil, func() {})
		return
	}
	c.pipeline.unwritten.add(c)
	if len(c.pipeline.Observers) == 0 {
		return
	}
	c.delivery = c.newDelivery(wire)
	for _, o := range c.pipeline.Observers {
		tell(o.Answering, c.delivery)
	}
}

// end takes the call's last step and tells the observers. Only the first end counts.
func (c *Call) end(err error, last func()) {
	c.ending.Lock()
	defer c.ending.Unlock()
	if c.ended {
		return
	}
	c.ended = true
	c.pipeline.unwritten.remove(c)
	last()
	if len(c.pipeline.Observers) == 0 {
		return
	}
	if c.delivery == nil {
		c.delivery = c.newDelivery(0)
	}
	c.delivery.Err = err
	for _, o := range c.pipeline.Observers {
		tell(o.Ended, c.delivery)
	}
}

// tell calls an observer. No bug in one may cost a client its answer.
func tell(observe func(*Delivery), d *Delivery) {
	defer func() { _ = recover() }()
	observe(d)
}

func (c *Call) newDelivery(wire int) *Delivery {
	d := &Delivery{
		Machine: c.machine, Session: c.request.Session.ID(), Client: cut(c.request.Client, maxNameBytes), Parent: c.request.Parent,
		Tool: cut(c.toolName, maxNameBytes), Call: c.call, Pruning: c.pruning, PruneID: c.pruneID, Wire: wire,
		IsError: c.failure != nil,
	}
	if c.call != nil {
		d.Question = c.call.FocusQuestion()
	}
	if about := c.asked().subject; about != (tools.Subject{}) {
		d.Subject = about
		d.Key = c.session().subject(c, about)
	}
	if wire == 0 {
		return d
	}
	d.Text, d.Notice, d.raw = c.sent, c.notice, c.raw
	d.Opaque = c.failure != nil && c.failure.Opaque != nil || c.output != nil && opaqueOf(c.output) != nil
	if c.output != nil {
		d.Source = c.output.Source()
		if s, ok := c.output.(tools.Saver); ok {
			saving := s.Saved()
			d.Saving = &saving
		}
	}
	return d
}

// What comes from clients can be of any size; observers see this much of a name.
const maxNameBytes = 128

// cut shortens a text that came from a client, at the end of a rune.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return strings.Clone(text[:limit])
}
