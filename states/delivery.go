package states

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

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

// announce tells the observers that the call's tool is about to run. If the tool may change anything, the log has the
// call before it starts: a command can kill this process.
func (c *Execution) announce() {
	for _, o := range c.pipeline.Observers {
		if starter, ok := o.(Starter); ok {
			if c.started == nil {
				c.started = c.newStart()
			}
			tell(starter.Starting, c.started)
		}
	}
	if c.pipeline.SyncLog != nil && !c.readOnly() {
		c.pipeline.SyncLog()
	}
}

// newStart returns the facts about a call that has no output yet.
func (c *Execution) newStart() *Delivery {
	return &Delivery{
		Machine: c.machine, Session: c.request.Session.ID(), Client: cut(c.request.Client, maxNameBytes), Parent: c.request.Parent,
		Tool: cut(c.toolName, maxNameBytes),
	}
}

// readOnly reports whether the tool of a valid call changes nothing.
func (c *Execution) readOnly() bool {
	return slices.ContainsFunc(c.offered(), func(t tools.Tool) bool { return t.Name == c.toolName && t.ReadOnly })
}

// unwritten holds the calls whose answers are being written.
type unwritten struct {
	mu    sync.Mutex
	calls map[*Execution]struct{}
}

func (u *unwritten) add(c *Execution) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.calls == nil {
		u.calls = make(map[*Execution]struct{})
	}
	u.calls[c] = struct{}{}
}

func (u *unwritten) remove(c *Execution) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.calls, c)
}

func (u *unwritten) all() []*Execution {
	u.mu.Lock()
	defer u.mu.Unlock()
	list := make([]*Execution, 0, len(u.calls))
	for c := range u.calls {
		list = append(list, c)
	}
	return list
}

// errEnded: the process ended before the client had read all of its answer.
var errEnded = errors.New("the process ended before the answer was written")

// Abandon ends the calls whose answers were not written completely. Call it just before the
// process exits, when nothing more will be written.
func (p *Pipeline) Abandon(ctx context.Context) {
	for _, c := range p.unwritten.all() {
		c.WriteFailed(ctx, errEnded)
	}
	for _, closing := range p.Closers {
		_ = closing() // observers report their own errors
	}
}

// Answering reports to the call that its answer of wire bytes is about to be written. With
// 0 there is no answer, and the call ends.
func (c *Execution) Answering(wire int) {
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

// end takes the call's last step and notifies the observers. Only the first call has an
// effect.
func (c *Execution) end(err error, last func()) {
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

// tell calls an observer and recovers a panic, so that a bug in one never costs a client
// its answer.
func tell(observe func(*Delivery), d *Delivery) {
	defer func() { _ = recover() }()
	observe(d)
}

func (c *Execution) newDelivery(wire int) *Delivery {
	d := c.newStart()
	d.Call, d.Pruning, d.PruneID, d.Wire, d.IsError = c.call, c.pruning, c.pruneID, wire, c.failure != nil
	if c.started != nil {
		d.note = c.started.note
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

// maxNameBytes is the length to which observers see a name, because clients choose names of
// any size.
const maxNameBytes = 128

// cut shortens a client's text to at most limit bytes, at the end of a rune.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return strings.Clone(text[:limit])
}
