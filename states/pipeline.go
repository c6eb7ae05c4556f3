// Package states does the work of each state of a request. A handler does one state's work
// and returns the trigger that leaves the state, with the facts it found. The table in
// package fsm decides which state follows, and the machine's callbacks emit the events and
// set the metadata.
package states

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/pruneclient"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// Pipeline holds everything that the requests of a server share.
type Pipeline struct {
	Machine *fsm.Definition
	Tools   []tools.Tool
	Pruner  pruneclient.Pruner // nil: pruning is off

	// Keep stores an original before it is pruned and returns the id under which it can be
	// read again. If it fails, the output is not pruned. Nil stores nothing.
	Keep func(ctx context.Context, text string) (id string, err error)

	// KeepBeside, if it is not nil, is called instead before pruning. The pruner works while the original travels to a
	// database: the id is returned at once, failed is called if it cannot be stored, and stored waits.
	KeepBeside func(ctx context.Context, text string, failed func()) (id string, stored func() error)

	MaxPruneBytes int  // larger output is not sent to a pruner, if the table has a row for that; 0: no limit
	FieldErrors   bool // the event of invalid arguments also has them in the form of the HTTP design
	RepeatRaw     bool // a call that asks again for pruned output gets it whole

	// Printed reports whether a text was brought back just now by its id. Such a text is not pruned, nor is one whose call says
	// that it brings one back. Nil: every text may be replaced.
	Printed func(text string) bool

	Emit    func(fsm.Event)  // called with every event; nil: events are dropped
	SyncLog func()           // waits, for a bounded time, until all events so far are written; nil: nothing to wait for
	Now     func() time.Time // nil: time.Now
	NewID   func() string    // request ids; nil: random

	Observers []Observer     // notified of every call
	Closers   []func() error // called when the server ends, after the last call

	unwritten unwritten
	alone     Session // session in records for calls that have no session
}

// Request is the input from a transport: one tools/call, or one line that is not a request
// at all.
type Request struct {
	Malformed string       // why the line could not be read as a request
	Params    any          // decoded params, numbers as json.Number or float64
	Tools     []tools.Tool // tools offered to its client; nil: those of the pipeline
	Session   *Session     // nil: the call belongs to no session
	Client    string       // client's name; "" when it is not known
	Model     string       // model that makes the call; "" when it is not known
	Parent    string       // caller's span, in W3C traceparent form; "" when it gave none
}

// Execution is one request with its machine.
type Execution struct {
	pipeline *Pipeline
	machine  *fsm.Machine
	request  Request

	owner     string // subject of the request; "" for the owner of the machine
	user      string // whom the reverse proxy named, or ""
	toolName  string // "" until params.name is known to be a string
	arguments map[string]any
	before    []pruneclient.Event // earlier calls of the session, most recent first

	call    tools.Call
	issues  []Issue
	advice  string       // the issues in words
	output  tools.Output // raw, then pruned
	failure *tools.Error
	pruning PruningMetadata
	pruneID string
	again   bool // the same call's output was cut before
	repeat  bool
	stuck   bool // no row leads out of the state; only a mutated table can cause this
	dropped bool // no client waits for the answer

	// For the observers.
	sent      string       // the text answered
	notice    string       // notice sent beside it
	original  string       // id of the original stored before pruning
	unchanged bool         // the pruner returned the text as it was
	unpruned  string       // why the text came back whole; "" when it did not
	fallback  string       // StoreFull, or ""
	raw       tools.Output // output before pruning; nil: output was not pruned
	started   *Delivery    // facts given to the observers when the tool started; nil if it did not
	delivery  *Delivery
	ending    sync.Mutex
	ended     bool
}

// Run takes a request through its machine until it reaches a terminal state, or waits in
// req:respond_* for the transport to write the answer. It never fails and never panics:
// errors are recorded in the call.
func (p *Pipeline) Run(ctx context.Context, req Request) *Execution {
	c := p.newCall(req)
	c.owner, c.user = cut(agent.SubjectOf(ctx), maxNameBytes), agent.UserOf(ctx)
	for !c.settled() {
		trigger, facts := c.step(ctx)
		c.fire(ctx, trigger, facts)
	}
	c.fit(ctx)
	return c
}

// offered returns the tools that the call may name.
func (c *Execution) offered() []tools.Tool {
	if c.request.Tools != nil {
		return c.request.Tools
	}
	return c.pipeline.Tools
}

func (p *Pipeline) newCall(req Request) *Execution {
	c := &Execution{pipeline: p, request: req}
	newID := p.NewID
	if newID == nil {
		newID = randomID
	}
	c.machine = p.Machine.New(newID(), fsm.Hooks{Emit: p.Emit, Set: c.pruning.set, Now: p.Now})
	return c
}

// settled reports whether the call can go no further without the transport.
func (c *Execution) settled() bool {
	return c.stuck || c.machine.Done() || handlers[c.machine.State()] == nil
}

// step runs the handler of the current state. A cancelled request and a panic both leave
// the state by the abort row.
func (c *Execution) step(ctx context.Context) (trigger fsm.Trigger, facts fsm.Facts) {
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

// fire takes the row. If the table has no such row, the request ends in internal error.
func (c *Execution) fire(ctx context.Context, trigger fsm.Trigger, facts fsm.Facts) {
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

// Cancel ends a call that waits for its answer to be written, because the client no longer
// wants the answer. It does nothing to a finished call.
func (c *Execution) Cancel(ctx context.Context) {
	c.end(nil, func() {
		if !c.machine.Done() {
			c.fire(ctx, fsm.Abort, cancelled())
		}
	})
}

// Written reports to the call that its whole answer was sent.
func (c *Execution) Written(ctx context.Context) {
	c.end(nil, func() {
		if c.machine.Done() || c.stuck {
			return
		}
		c.fire(ctx, fsm.Written, c.sentAs())
	})
}

// unchangedReason is the reason in the event log for a text that the pruner returned as it was. The pruner's own words are
// not logged, because they may quote the question.
const unchangedReason = "unchanged"

// sentAs returns how the answer was sent: pruned, or raw with the reason for which it stayed
// whole.
func (c *Execution) sentAs() fsm.Facts {
	switch {
	case c.machine.State() != fsm.RespondPruned:
		return fsm.Facts{"mode": "raw", "raw_reason": c.pruning.Reason}
	case c.unchanged:
		return fsm.Facts{"mode": "raw", "raw_reason": unchangedReason}
	}
	return fsm.Facts{"mode": "pruned"}
}

// WriteFailed reports to the call that its answer could not be encoded or written.
func (c *Execution) WriteFailed(ctx context.Context, err error) {
	c.end(err, func() {
		if !c.machine.Done() && !c.stuck {
			c.fire(ctx, fsm.WriteFailed, fsm.Facts{"message": err.Error()})
		}
	})
}

// Machine returns the call's machine, with its id, its state and the steps it took.
func (c *Execution) Machine() *fsm.Machine { return c.machine }

// Pruning returns the call's metadata as far as the machine has set it.
func (c *Execution) Pruning() PruningMetadata { return c.pruning }

// elapsed returns the milliseconds since a time, by the pipeline's clock.
func (c *Execution) elapsed(since time.Time) int64 { return c.now().Sub(since).Milliseconds() }

func (c *Execution) now() time.Time {
	if c.pipeline.Now == nil {
		return time.Now()
	}
	return c.pipeline.Now()
}

func randomID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // documented never to fail
	return "req_" + hex.EncodeToString(b[:])
}
