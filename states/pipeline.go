// Package states is what happens in each state of a request. A handler does one
// state's work and returns the trigger that leaves it, with what it found out; the
// table in package fsm decides where that leads, and the machine's callbacks emit
// the events and fill the metadata.
package states

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"mcp-pruner/fsm"
	"mcp-pruner/fsm/event"
	"mcp-pruner/pruneclient"
	"mcp-pruner/tools"
)

// Pipeline is what every request of a server shares.
type Pipeline struct {
	Machine *fsm.Definition
	Tools   []tools.Tool
	Pruner  pruneclient.Pruner // nil: pruning is off

	// Keep stores an original before it is pruned and returns the id under which
	// it can be had again. Nil keeps nothing. Where it fails nothing is pruned.
	Keep func(ctx context.Context, text string) (id string, err error)

	MaxPruneBytes int  // larger output is not sent to a pruner, where the table has a row for it; 0: no limit
	FieldErrors   bool // the event of refused arguments spells them as the HTTP design does, too
	RepeatRaw     bool // a call that asks again for what was pruned gets it whole

	Emit  func(event.Event) // takes every event; nil: none
	Now   func() time.Time  // nil: time.Now
	NewID func() string     // request ids; nil: random

	Observers []Observer     // learn of every call; none cost nothing
	Closers   []func() error // called when the server ends, after the last call

	unwritten unwritten
	alone     Session // what records know of the calls that have no session
}

// Request is what a transport hands over: one tools/call, or one line that is
// no request at all.
type Request struct {
	Malformed string       // why the line could not be read as a request
	Params    any          // decoded params, numbers as json.Number or float64
	Tools     []tools.Tool // what its client is offered; nil: the pipeline's
	Session   *Session     // nil: the call stands alone
	Client    string       // the client's name, as far as it is known
	Model     string       // the model it calls for, where it says so
	Parent    string       // the caller's span, as W3C traceparent has it; "" when it named none
}

// Call is one request on its way through its machine.
type Call struct {
	pipeline *Pipeline
	machine  *fsm.Machine
	request  Request

	toolName  string // "" until params.name proved to be a string
	arguments map[string]any
	before    []pruneclient.Event // what the session did before, most recent first

	call    tools.Call
	issues  []Issue
	advice  string       // of the issues in words
	output  tools.Output // raw, then pruned
	failure *tools.Error
	pruning PruningMetadata
	pruneID string
	repeat  bool
	stuck   bool // the table has no way out; only a mutated table can do this
	dropped bool // nobody waits for the answer

	// For the observers.
	sent     string       // the text answered
	notice   string       // what was said beside it
	original string       // names what was stored before pruning
	unpruned string       // why the pruner left the text whole; "" where it did not
	raw      tools.Output // as it was before pruning; nil: it still is
	delivery *Delivery
	ending   sync.Mutex
	ended    bool
}

// Run takes a request through its machine until it reached a terminal state or
// waits in req:respond_* for the transport to write the answer. It never fails
// and never panics: whatever happens is in the call.
func (p *Pipeline) Run(ctx context.Context, req Request) *Call {
	c := p.newCall(req)
	for !c.settled() {
		trigger, facts := c.step(ctx)
		c.fire(ctx, trigger, facts)
	}
	c.fit(ctx)
	return c
}

// offered are the tools that the call can be of.
func (c *Call) offered() []tools.Tool {
	if c.request.Tools != nil {
		return c.request.Tools
	}
	return c.pipeline.Tools
}

func (p *Pipeline) newCall(req Request) *Call {
	c := &Call{pipeline: p, request: req}
	newID := p.NewID
	if newID == nil {
		newID = randomID
	}
	c.machine = p.Machine.New(newID(), fsm.Hooks{Emit: p.Emit, Set: c.pruning.set, Now: p.Now})
	return c
}

// settled says whether the call has come as far as it can by itself.
func (c *Call) settled() bool {
	return c.stuck || c.machine.Done() || handlers[c.machine.State()] == nil
}

// step runs the handler of the current state. A cancelled request and a panic
// both leave by the abort row.
func (c *Call) step(ctx context.Context) (trigger fsm.Trigger, facts fsm.Facts) {
	defer func() {
		if r := recover(); r != nil {
			trigger, facts = fsm.Abort, panicFacts(r)
		}
	}()
	if ctx.Err() != nil {
		return fsm.Abort, cancelled()
	}
	trigger, facts, err := handlers[c.machine.State()](ctx, c)
	switch {
	case err == nil:
		return trigger, facts
	case ctx.Err() != nil:
		return fsm.Abort, cancelled()
	default:
		return fsm.Abort, fsm.Facts{"reason": "error", "message": err.Error()}
	}
}

func cancelled() fsm.Facts { return fsm.Facts{"reason": "cancelled"} }

func panicFacts(r any) fsm.Facts {
	return fsm.Facts{"reason": "panic", "message": fmt.Sprint(r), "stack": string(debug.Stack())}
}

// fire takes the row; a table without it sends the request to internal error.
func (c *Call) fire(ctx context.Context, trigger fsm.Trigger, facts fsm.Facts) {
	if facts == nil {
		facts = make(fsm.Facts, 1)
	}
	if c.toolName != "" {
		facts["tool"] = cut(c.toolName, maxNameBytes)
	}
	err := c.machine.Fire(ctx, trigger, facts)
	switch {
	case err == nil:
		c.dropped = c.dropped || trigger == fsm.Abort && facts["reason"] == "cancelled"
	case trigger == fsm.Abort:
		c.stuck = true
	default:
		c.fire(ctx, fsm.Abort, fsm.Facts{"reason": "no_transition", "message": err.Error()})
	}
}

// Cancel ends a call that waits for its answer to be written: nobody wants it
// any more. On a finished call it does nothing.
func (c *Call) Cancel(ctx context.Context) {
	c.end(nil, func() {
		if !c.machine.Done() {
			c.fire(ctx, fsm.Abort, cancelled())
		}
	})
}

// Written tells the call that its answer went out whole. Now there is time to
// prepare for the next one.
func (c *Call) Written(ctx context.Context) {
	c.end(nil, func() {
		if c.machine.Done() || c.stuck {
			return
		}
		mode := "raw"
		if c.machine.State() == fsm.RespondPruned {
			mode = "pruned"
		}
		c.fire(ctx, fsm.Written, fsm.Facts{"mode": mode})
	})
	c.pipeline.Machine.Prepare()
}

// WriteFailed tells the call that its answer could not be made or written.
func (c *Call) WriteFailed(ctx context.Context, err error) {
	c.end(err, func() {
		if !c.machine.Done() && !c.stuck {
			c.fire(ctx, fsm.WriteFailed, fsm.Facts{"message": err.Error()})
		}
	})
}

// Machine is the call's machine: its id, its state and the steps it took.
func (c *Call) Machine() *fsm.Machine { return c.machine }

// Pruning is the call's metadata as far as the machine has filled it.
func (c *Call) Pruning() PruningMetadata { return c.pruning }

// elapsed measures in milliseconds by the pipeline's clock.
func (c *Call) elapsed(since time.Time) int64 { return c.now().Sub(since).Milliseconds() }

func (c *Call) now() time.Time {
	if c.pipeline.Now == nil {
		return time.Now()
	}
	return c.pipeline.Now()
}

func randomID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails, by its documentation
	return "req_" + hex.EncodeToString(b[:])
}
