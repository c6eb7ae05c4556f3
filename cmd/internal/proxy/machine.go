package proxy

import (
	"context"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/event"
	"github.com/mcp-pruner/mcp-pruner/pruneclient"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// requests runs the request machine for replaced results. Each is treated as a call of the tool that the
// client ran, whose output is pruned to the replacement.
type requests struct {
	machine   *fsm.Definition
	emit      func(event.Event)
	observers []states.Observer
	runs      *runs
}

// replace implements replacer.
func (q *requests) replace(ctx context.Context, c *conversation, client string, changes []change) (map[int]string, error) {
	texts := make(map[int]string, len(changes))
	session := q.runs.session(c.session, client)
	for _, ch := range changes {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if text, ok := q.one(ctx, c, client, session, ch); ok {
			texts[ch.result.index] = text
		}
	}
	return texts, nil
}

func (q *requests) one(ctx context.Context, c *conversation, client string, session *states.Session, ch change) (string, bool) {
	name := ch.result.use.call.Tool
	if name == "" {
		name = "tool"
	}
	raw := rawOutput{text: ch.result.text(c.body), source: source(ch.result)}
	pipeline := &states.Pipeline{
		Machine: q.machine, Tools: []tools.Tool{clientTool(name, raw, ch)}, Pruner: shownInstead(ch.text), Emit: q.emit, Observers: q.observers,
		Keep: func(context.Context, string) (string, error) { return ch.id, nil }, // the original is already in the store
	}
	args := ch.result.use.args
	if args == nil {
		args = map[string]any{}
	}
	call := pipeline.Run(ctx, states.Request{Params: map[string]any{"name": name, "arguments": args}, Session: session, Client: client})
	answer := call.Answer()
	if answer.Kind != states.Result { // the request was abandoned
		call.Answering(0)
		return "", false
	}
	at := ch.result.at
	call.Answering(len(c.body) - (at.to - at.from) + len(ch.result.stub(answer.Text))) // the bytes of the request that carries it
	call.Written(ctx)
	return answer.Text, call.Pruning().Applied
}

func source(r *result) tools.Source {
	s := tools.Source{Command: r.use.call.Command}
	s.File, s.FirstLine, _ = r.use.call.FileRead()
	return s
}

// clientTool returns a tool that stands for the one that the client ran. Its output is already known.
func clientTool(name string, out rawOutput, ch change) tools.Tool {
	return tools.Tool{Name: name, Check: func(map[string]any) (tools.Call, []tools.Issue) {
		return clientCall{out: out, change: ch}, nil
	}}
}

type clientCall struct {
	out    rawOutput
	change change
}

// FocusQuestion implements tools.Call. It returns the reason for the replacement.
func (c clientCall) FocusQuestion() string { return c.change.why }

// Run implements tools.Call.
func (c clientCall) Run(context.Context) (tools.Output, error) { return c.out, nil }

// Subject implements tools.Subjecter.
func (c clientCall) Subject() tools.Subject {
	call := c.change.result.use.call
	file, _, _ := call.FileRead()
	// The segment keeps two results about one file apart. As PruneID it would say that the model asked for it again.
	return tools.Subject{Path: file, Command: call.Command, Pattern: call.Pattern, Options: c.change.segment}
}

// rawOutput is a result in the client's form.
type rawOutput struct {
	text   string
	source tools.Source
}

// Code implements tools.Output.
func (o rawOutput) Code() string { return o.text }

// Text implements tools.Output.
func (o rawOutput) Text() string { return o.text }

// Source implements tools.Output.
func (o rawOutput) Source() tools.Source { return o.source }

// Structured implements tools.Output. It is never shown.
func (o rawOutput) Structured(any) any { return nil }

// Prune implements tools.Output.
func (o rawOutput) Prune(text string) (tools.Output, error) {
	return rawOutput{text: text, source: o.source}, nil
}

// shownInstead is a pruner whose result was decided before.
type shownInstead string

// Prune implements pruneclient.Pruner.
func (s shownInstead) Prune(context.Context, pruneclient.Request) (pruneclient.Result, error) {
	return pruneclient.Result{Text: string(s)}, nil
}

// Endpoint implements pruneclient.Pruner.
func (shownInstead) Endpoint() string { return "proxy" }
