package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/client/transport"

	"mcp-pruner/tools"
	"mcp-pruner/tools/upstream"
)

// Tools is what a client of the given name is offered, as tools of a server.
func (g *Gateway) Tools(client string) []tools.Tool {
	list := g.List(client)
	out := make([]tools.Tool, len(list.Tools))
	for i := range list.Tools {
		e := &list.Tools[i]
		out[i] = tools.Tool{
			Name: e.Name, Description: e.Description, InputSchema: e.InputSchema,
			ReadOnly: e.Annotations.ReadOnly != nil && *e.Annotations.ReadOnly,
			Listed:   listed(e),
			Check: func(args map[string]any) (tools.Call, []tools.Issue) {
				return call{gateway: g, exposed: e, args: args}, nil
			},
		}
	}
	return out
}

// listed are the fields of a tool beyond name, description and schema.
func listed(e *upstream.Exposed) map[string]json.RawMessage {
	fields := map[string]json.RawMessage{"_meta": nil}
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
	gateway *Gateway
	exposed *upstream.Exposed
	args    map[string]any
}

// FocusQuestion implements tools.Call: results pass through as they are.
func (c call) FocusQuestion() string { return "" }

// Run makes the upstream call.
func (c call) Run(ctx context.Context) (tools.Output, error) {
	target, help, refusal := c.exposed.Translate(c.args)
	switch {
	case help != "":
		return answer{text: help}, nil
	case refusal != "":
		return nil, &tools.Error{Code: "invalid_arguments", Message: refusal}
	}
	s := c.gateway.server(target.Def.Server)
	if s == nil {
		return nil, &tools.Error{Code: "upstream_unavailable", Message: "server " + target.Def.Server + " is not configured any more"}
	}
	caller, meta := callerOf(ctx)
	result, err := s.call(ctx, target.Def.Name, target.Arguments, meta, caller)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, unavailable(s.config, err)
	case result.Error != nil:
		return nil, refused(s.config, result)
	}
	return passed(s.config, result.Result)
}

// unavailable is the error of a server that is not there: it names the server and
// says what happens next.
func unavailable(c ServerConfig, err error) *tools.Error {
	return &tools.Error{Code: "upstream_unavailable",
		Message: fmt.Sprintf("the MCP server %s did not answer: %s. It is started anew with the next call; the other tools work.", c.Name, redacted(err, c))}
}

// refused is a JSON-RPC error of an upstream: the client gets it as it is.
func refused(c ServerConfig, result *transport.JSONRPCResponse) *tools.Error {
	failed := &tools.RPCError{Code: result.Error.Code, Message: result.Error.Message}
	if result.Error.Data != nil {
		failed.Data, _ = json.Marshal(result.Error.Data) // came as JSON
	}
	return &tools.Error{Code: "upstream_error", Message: withoutSecrets(c.Name+": "+failed.Message, c), Opaque: &tools.Opaque{RPC: failed}}
}

// passed is an upstream's result, which is not touched.
func passed(c ServerConfig, raw json.RawMessage) (tools.Output, error) {
	var result struct {
		Content    []json.RawMessage          `json:"content"`
		Structured json.RawMessage            `json:"structuredContent"`
		Meta       map[string]json.RawMessage `json:"_meta"`
		IsError    bool                       `json:"isError"`
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return nil, &tools.Error{Code: "upstream_error", Message: fmt.Sprintf("the MCP server %s sent a result that is none: %v", c.Name, err)}
	}
	o := &tools.Opaque{Content: result.Content, Structured: result.Structured, Meta: result.Meta, IsError: result.IsError}
	if o.Content == nil {
		o.Content = []json.RawMessage{}
	}
	text := textOf(result.Content)
	if result.IsError {
		return nil, &tools.Error{Code: "upstream_error", Message: cutText(withoutSecrets(text, c)), Opaque: o}
	}
	return answer{text: text, opaque: o}, nil
}

// textOf is the text view of content blocks, for the trace and the ledger.
func textOf(blocks []json.RawMessage) string {
	var texts []string
	for _, raw := range blocks {
		var block struct {
			Type, Text string
		}
		if json.Unmarshal(raw, &block) == nil && block.Type == "text" {
			texts = append(texts, block.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// maxMessage bounds the error text that goes to the log and the trace.
const maxMessage = 500

func cutText(text string) string {
	if text = strings.TrimSpace(text); len(text) > maxMessage {
		return strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}

// answer is what an upstream call produced.
type answer struct {
	text   string
	opaque *tools.Opaque
}

func (a answer) Code() string                       { return a.text }
func (a answer) Source() tools.Source               { return tools.Source{} }
func (a answer) Text() string                       { return a.text }
func (a answer) Structured(any) any                 { return nil }
func (a answer) Opaque() *tools.Opaque              { return a.opaque }
func (a answer) Prune(string) (tools.Output, error) { return nil, errors.New("is not pruned") }
