package existing

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/pruneclient"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// Machine runs the request machine for results of a client's own tools. The tool is the one that the client
// ran, and its output is already known.
type Machine struct {
	Client    string
	Session   *states.Session // nil: the results belong to none
	Keep      func(ctx context.Context, text string) (id string, err error)
	Emit      func(fsm.Event)   // nil: none
	Observers []states.Observer // of the delivery: trace, ledger
	Back      string            // the command that recovers a text, without the id; "": DefaultBack
}

// Replacement is a result that went through the machine.
type Replacement struct {
	Cut Cut
	ID  string // of the original
	Way string // the command that recovers it

	call *states.Execution
}

// Written calls write, which writes a replacement of the given number of bytes, and reports its success to
// the machine.
func (r *Replacement) Written(ctx context.Context, bytes int, write func() error) error {
	r.call.Answer() // the observers count what was sent
	r.call.Answering(bytes)
	if err := write(); err != nil {
		r.call.WriteFailed(ctx, err)
		return err
	}
	r.call.Written(ctx)
	return nil
}

// Prune runs the machine for one result. ok is false if the result stays unchanged.
func (m Machine) Prune(ctx context.Context, r Result) (replacement *Replacement, ok bool, err error) {
	out := &Replacement{}
	p := &pruner{result: r, out: out, back: cmp.Or(m.Back, DefaultBack)}
	_, first := r.Body.Original()
	m.Keep = m.keep(r.Body)
	out.call = m.run(ctx, p, r.Args, given{
		question: r.Question, subject: tools.Subject{Path: r.Call.File, Command: r.Call.Command, Pattern: r.Call.Pattern},
		output: output{r.Body.Code(), tools.Source{File: r.Call.File, Command: r.Call.Command, FirstLine: first}},
	}, r.Call.Tool)
	applied := out.call.Pruning().Applied && !out.Cut.Whole()
	return out, applied, errors.Join(p.err, ctx.Err())
}

var table = sync.OnceValue(func() *fsm.Definition { return fsm.MustCompile(fsm.RequestTable()) })

// run takes a result through the machine.
func (m Machine) run(ctx context.Context, p pruneclient.Pruner, args map[string]any, g given, tool string) *states.Execution {
	if args == nil {
		args = map[string]any{}
	}
	pipeline := &states.Pipeline{
		Machine: table(), Pruner: p, Keep: m.Keep, Emit: m.Emit, Observers: m.Observers,
		Tools: []tools.Tool{{Name: tool, Check: func(map[string]any) (tools.Call, []tools.Issue) { return g, nil }}},
	}
	return pipeline.Run(ctx, states.Request{Client: m.Client, Session: m.Session, Params: map[string]any{"name": tool, "arguments": args}})
}

// keep returns a function that stores the original, of which the machine has only the lines.
func (m Machine) keep(b Body) func(context.Context, string) (string, error) {
	if m.Keep == nil {
		return nil
	}
	return func(ctx context.Context, _ string) (string, error) {
		text, _ := b.Original()
		return m.Keep(ctx, text)
	}
}

// given is a call whose output is already known.
type given struct {
	question string
	subject  tools.Subject
	output   output
}

func (g given) FocusQuestion() string                     { return g.question }
func (g given) Run(context.Context) (tools.Output, error) { return g.output, nil }
func (g given) Subject() tools.Subject                    { return g.subject }

// output is a text in the client's form.
type output struct {
	text   string
	source tools.Source
}

func (o output) Code() string                              { return o.text }
func (o output) Text() string                              { return o.text }
func (o output) Source() tools.Source                      { return o.source }
func (o output) Prune(pruned string) (tools.Output, error) { return output{pruned, o.source}, nil }
func (o output) Structured(pruning any) any {
	return map[string]any{"text": o.text, "pruning": pruning}
}

// pruner adapts the embedded pruner to the machine. It records the cut for clients that need more than the
// text.
type pruner struct {
	result Result
	out    *Replacement
	back   string
	err    error
}

func (p *pruner) Endpoint() string { return pruneclient.EmbeddedEndpoint }

func (p *pruner) Prune(ctx context.Context, req pruneclient.Request) (pruneclient.Result, error) {
	cut, err := Prune(ctx, p.result)
	if err != nil {
		p.err = err
		return pruneclient.Result{}, &pruneclient.Error{Code: pruneclient.Timeout, Message: "the embedded pruner did not finish in time"}
	}
	p.out.Cut, p.out.ID, p.out.Way = cut, req.RecoveryID, WayOf(p.back, req.RecoveryID)
	if cut.Whole() {
		return pruneclient.Result{Text: req.Text}, nil
	}
	return pruneclient.Result{Text: Text(p.result.Body, cut, p.out.Way)}, nil
}
