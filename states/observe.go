package states

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/tools"
)

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
		Tool: cut(c.toolName, maxNameBytes), Owner: c.owner, User: c.user,
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

func (c *Execution) newDelivery(wire int) *Delivery {
	d := c.newStart()
	d.Call, d.Pruning, d.PruneID, d.Wire, d.IsError = c.call, c.pruning, c.pruneID, wire, c.failure != nil
	if c.started != nil {
		d.note = c.started.note
	}
	if c.call != nil {
		d.Question = c.call.FocusQuestion()
	}
	if about := c.subject(); about != (tools.Subject{}) {
		d.Subject = about
		d.Key = c.session().subject(d.Client, c.toolName, about, c.pruneID)
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

// session returns the call's session. All calls without one share one for their records:
// whether such a call asks again for pruned output cannot be known otherwise.
func (c *Execution) session() *Session {
	if c.request.Session == nil {
		return &c.pipeline.alone
	}
	return c.request.Session
}
