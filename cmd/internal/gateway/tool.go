package gateway

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream/connect"
)

// toolsOf returns a list as tools of a server.
func (g *Gateway) toolsOf(list []upstream.Exposed) []tools.Tool {
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
	question string // the focus question of a result to prune; "" until the result is known
}

// FocusQuestion implements tools.Call. Only results that the operator wants pruned have a question, and
// which those are is known only after the call.
func (c *call) FocusQuestion() string { return c.question }

// Run makes the upstream call.
func (c *call) Run(ctx context.Context) (tools.Output, error) {
	target, help, refusal := c.exposed.Translate(c.args)
	switch {
	case help != "":
		return connect.Text(help), nil
	case refusal != "":
		return nil, &tools.Error{Code: "invalid_arguments", Message: refusal}
	}
	from := mcpserver.CallerOf(ctx)
	s, done, unreachable := c.gateway.reach(from, target.Def.Server)
	if unreachable != nil {
		return nil, unreachable
	}
	defer done()
	caller, meta, extra := c.gateway.callerOf(ctx, s.Name())
	out, err := s.Call(ctx, target.Def.Name, target.Arguments, meta, extra, caller)
	if o := out.Opaque(); err == nil && o != nil && from != nil {
		holder, _ := from.Holder()
		c.gateway.given.note(holder, s.Name(), o.Content)
		if task := o.More["task"]; task != nil {
			o.More["task"] = renameTask(task, c.gateway.names(s.Name()))
		}
	}
	if over := c.gateway.options.Maps[s.Name()].PruneOver; err == nil && over > 0 && out.Prunable(over) {
		c.question = target.Question
	}
	if err != nil {
		return nil, err
	}
	return out, nil
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
