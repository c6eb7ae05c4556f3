package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream/connect"
)

// toolsOf returns a mode's list as tools of a server. A long grouped list has a tool that searches it.
func (g *Gateway) toolsOf(mode upstream.Mode, list []upstream.Exposed) []tools.Tool {
	out := make([]tools.Tool, len(list))
	for i := range list {
		e := &list[i]
		out[i] = tools.Tool{
			Name: e.Name, Description: e.Description, InputSchema: e.InputSchema,
			ReadOnly: e.Annotations.ReadOnly != nil && *e.Annotations.ReadOnly,
			Listed:   listed(e), Upstream: e.Server(),
			Check: func(args map[string]any) (tools.Call, []tools.Issue) {
				return &call{gateway: g, exposed: e, args: args}, nil
			},
		}
	}
	if t, offered := findTool(list); offered && mode == upstream.Grouped {
		out = append(out, t)
	}
	return out
}

// listed returns the fields of a tool other than name, description and schema.
func listed(e *upstream.Exposed) map[string]json.RawMessage {
	fields := map[string]json.RawMessage{"_meta": nil}
	maps.Copy(fields, e.More)
	if e.Title != "" {
		fields["title"], _ = json.Marshal(e.Title)
	}
	if e.Annotations != (upstream.Annotations{}) {
		fields["annotations"], _ = json.Marshal(e.Annotations)
	}
	return fields
}

// call is one call of an exposed tool.
type call struct {
	gateway  *Gateway
	exposed  *upstream.Exposed
	args     map[string]any
	question string  // the focus question of a result to prune; "" until the result is known
	ends     float64 // the fraction of a wrapped server's result to keep
}

// FocusQuestion implements tools.Call. Only results that the operator wants pruned have a question, and
// which those are is known only after the call.
func (c *call) FocusQuestion() string { return c.question }

// Ends implements tools.Ends.
func (c *call) Ends() float64 { return c.ends }

// Run makes the upstream call.
func (c *call) Run(ctx context.Context) (tools.Output, error) {
	target, help, refusal := c.exposed.Translate(c.args)
	switch {
	case help != "":
		return connect.Text(help), nil
	case refusal != "":
		return nil, &tools.Error{Code: "invalid_arguments", Message: refusal}
	}
	out, err := c.gateway.call(ctx, target)
	over := c.gateway.options.Maps[target.Def.Server].PruneOver
	whole := c.exposed.More["outputSchema"] != nil // the client may check it
	if err == nil && over > 0 && !whole && out.Prunable(over) && !c.gateway.passesWhole(target.Def) {
		c.question = cmp.Or(target.Question, "why did it fail?") // if nobody asked failures count, and what stands last
		if c.gateway.options.Wrap {
			c.ends = float64(over) / float64(len(out.Text()))
			out = out.ByItem()
		}
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// passesWhole reports whether the results of a wrapped server's tool are never cut: the way back has a name that is the server's own.
func (g *Gateway) passesWhole(d *upstream.Definition) bool {
	if !g.options.Wrap {
		return false
	}
	offer, _, _ := g.server(d.Server).Offer()
	taken := slices.ContainsFunc(offer.Tools, func(d upstream.Definition) bool { return d.Name == "recover_text" })
	if taken {
		g.said.Do(func() {
			g.options.Note("gateway.upstream_tool_skipped", map[string]any{"upstream": d.Server, "message": "it has a tool recover_text of its own; its results are not cut"})
		})
	}
	return taken
}

// call makes a call of a server.
func (g *Gateway) call(ctx context.Context, target *upstream.Call) (connect.Answer, error) {
	from := mcpserver.CallerOf(ctx)
	if from == nil || !from.Modern() {
		return g.callFrom(ctx, target, from, nil)
	}
	key := target.Def.Server + " " + target.Def.Name + " " + string(encoded(target.Arguments))
	if _, again := from.Extra()["requestState"]; again {
		r, err := g.rounds.resume(from, key)
		if err != nil {
			return connect.Answer{}, &tools.Error{Code: "invalid_arguments", Message: err.Error()}
		}
		return g.rounds.wait(ctx, r)
	}
	r := g.rounds.begin(g.life, g.callerAt(from, target.Def.Server), key, func(ctx context.Context, asking connect.Caller) (connect.Answer, error) {
		return g.callFrom(ctx, target, from, asking)
	})
	return g.rounds.wait(ctx, r)
}

// callFrom makes a call on the connection of a client. asking receives what the server sends during it; nil: the client does.
func (g *Gateway) callFrom(ctx context.Context, target *upstream.Call, from *mcpserver.Caller, asking connect.Caller) (connect.Answer, error) {
	s, done, unreachable := g.reach(from, target.Def.Server)
	if unreachable != nil {
		return connect.Answer{}, unreachable
	}
	defer done()
	if from == nil {
		return s.Call(ctx, target.Def.Name, target.Arguments, nil, nil, nil)
	}
	for name, value := range spelled(spelled(from.Params())["arguments"]) {
		if to, passed := target.Passed[name]; passed {
			target.Arguments[to] = value
		}
	}
	names, extra := g.names(s.Name()), map[string]any{}
	if task, ok := from.Extra()["task"]; ok {
		extra["task"] = task
	}
	if asking == nil {
		asking = g.callerAt(from, s.Name())
	}
	out, err := s.Call(ctx, target.Def.Name, target.Arguments, from.Meta(), extra, asking)
	o := out.Opaque()
	if failed := (*tools.Error)(nil); errors.As(err, &failed) {
		o = failed.Opaque
	}
	if o != nil {
		holder, _ := from.Holder()
		g.given.note(holder, s.Name(), append(slices.Clip(o.Content), o.Structured, encoded(o.Meta))...)
		if task := o.More["task"]; task != nil {
			o.More["task"] = renameTask(task, names)
		}
	}
	return out, err
}

// Prunes reports whether the results of any server are pruned.
func (g *Gateway) Prunes() bool {
	for _, m := range g.options.Maps {
		if m.PruneOver > 0 {
			return true
		}
	}
	return false
}
