package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
)

// caller is a client as one server sees it: ids of the server's tasks get their offered form, and of several servers the client
// is told which one asks or logs.
type caller struct {
	*mcpserver.Caller
	names  upstream.Names
	server string // "": there is only one
}

// Notify implements connect.Caller.
func (c caller) Notify(method string, params any) {
	if fields, ok := params.(map[string]any); ok {
		fields = maps.Clone(fields)
		id, isTask := fields["taskId"].(string)
		switch {
		case method == "notifications/tasks/status" && isTask:
			fields["taskId"] = c.names.URI(id)
		case method == "notifications/message" && c.server != "":
			fields["logger"] = c.server
			if own, ok := params.(map[string]any)["logger"].(string); ok {
				fields["logger"] = c.server + "/" + own
			}
		}
		params = fields
	}
	c.Caller.Notify(method, params)
}

// relatedTask is the key of _meta that names the task which a request of a server belongs to.
const relatedTask = "io.modelcontextprotocol/related-task"

// Ask implements connect.Caller.
func (c caller) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, *tools.RPCError, error) {
	return c.Caller.Ask(ctx, method, c.signed(method, inMember(params, "_meta", func(meta json.RawMessage) json.RawMessage {
		return inMember(meta, relatedTask, func(task json.RawMessage) json.RawMessage { return renameTask(task, c.names) })
	})))
}

// askedBy is the key of _meta that names the server which asks.
const askedBy = "mcp-pruner/server"

// signed returns a question with the name of the server that asks: for the program in _meta, and before the text that a person reads.
func (c caller) signed(method string, params json.RawMessage) json.RawMessage {
	var members, meta map[string]json.RawMessage
	if c.server == "" || method == "roots/list" || json.Unmarshal(params, &members) != nil || members == nil {
		return params
	}
	if json.Unmarshal(members["_meta"], &meta) != nil || meta == nil {
		meta = map[string]json.RawMessage{}
	}
	meta[askedBy] = encoded(c.server)
	members["_meta"] = encoded(meta)
	if method == "elicitation/create" {
		members["message"] = inString(members["message"], func(text string) string { return c.server + ": " + text })
	}
	return encoded(members)
}

// renameTask gives the id in a task its offered form.
func renameTask(task json.RawMessage, names upstream.Names) json.RawMessage {
	return inMember(task, "taskId", func(id json.RawMessage) json.RawMessage { return inString(id, names.URI) })
}

// inMember returns an object with one member changed. What is no object, or does not have the member, stays as it is.
func inMember(raw json.RawMessage, name string, change func(json.RawMessage) json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members[name] == nil {
		return raw
	}
	members[name] = change(members[name])
	return encoded(members)
}

// inString returns a JSON string with its text changed. What is no string stays as it is.
func inString(raw json.RawMessage, change func(string) string) json.RawMessage {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return raw
	}
	return encoded(change(text))
}

// encoded returns strings, and values that were decoded from JSON, as JSON without escapes for HTML.
func encoded(value any) json.RawMessage {
	text, err := jsonspan.Marshal(value)
	if err != nil { // cannot happen for such values
		return json.RawMessage("null")
	}
	return text
}

// spelled returns the members of an object that have escapes of surrogates. They are passed on as the client spelled them, because
// no string here can hold half of a pair.
func spelled(raw json.RawMessage) map[string]json.RawMessage {
	plain := func(_ string, value json.RawMessage) bool {
		return !bytes.Contains(value, []byte(`\ud`)) && !bytes.Contains(value, []byte(`\uD`))
	}
	if plain("", raw) {
		return nil
	}
	members, _ := jsonspan.Members(raw) // JSON
	maps.DeleteFunc(members, plain)
	return members
}

func decoded(raw json.RawMessage) any {
	v, _ := jsonspan.Decode(raw) // nothing, or JSON
	return v
}
