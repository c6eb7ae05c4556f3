package main

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

// api writes a history in the form of a model's API.
type api struct {
	name, path string
	add        func(history []any, s sessions.Step) []any // the messages with one more step
	body       func(history []any, system string, tools []any) []any
	thinks     bool // the model thinks in each answer, and its API checks what that is bound to
}

// object is a JSON object whose members keep their order.
type object []any

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i := 0; i < len(o); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Quote(o[i].(string)) + ":" + encode(o[i+1]))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func encode(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // these always marshal
	}
	return strings.TrimSuffix(b.String(), "\n")
}

var apis = []api{
	{"Anthropic Messages", "/v1/messages",
		func(h []any, s sessions.Step) []any {
			switch s.Kind {
			case sessions.User, sessions.Attach:
				return append(h, object{"role", "user", "content", s.Text})
			case sessions.Say:
				if s.Think != "" {
					return append(h, object{"role", "assistant", "content", []any{object{"type", "thinking", "thinking", "", "signature", s.Think}}})
				}
				return append(h, object{"role", "assistant", "content", s.Text})
			case sessions.Use:
				return append(h, object{"role", "assistant", "content", []any{object{"type", "tool_use", "id", s.ID, "name", s.Tool, "input", arguments(s)}}})
			case sessions.Result:
				return append(h, object{"role", "user", "content", []any{object{"type", "tool_result", "tool_use_id", s.ID, "content", s.Out}}})
			}
			return h
		},
		func(h []any, system string, tools []any) []any {
			return object{"model", "claude-opus-5", "max_tokens", 1000, "tools", tools, "system", system, "messages", h}
		}, false},
	{"OpenAI Responses", "/v1/responses",
		func(h []any, s sessions.Step) []any {
			switch s.Kind {
			case sessions.User, sessions.Attach:
				return append(h, object{"type", "message", "role", "user", "content", []any{object{"type", "input_text", "text", s.Text}}})
			case sessions.Say:
				return append(h, object{"type", "message", "role", "assistant", "content", []any{object{"type", "output_text", "text", s.Text}}})
			case sessions.Use:
				return append(h, object{"type", "function_call", "call_id", s.ID, "name", s.Tool, "arguments", encode(arguments(s))})
			case sessions.Result:
				return append(h, object{"type", "function_call_output", "call_id", s.ID, "output", s.Out})
			}
			return h
		},
		func(h []any, system string, tools []any) []any {
			return object{"model", "gpt", "tools", tools, "instructions", system, "input", h}
		}, false},
	{"OpenAI Chat", "/v1/chat/completions",
		func(h []any, s sessions.Step) []any {
			switch s.Kind {
			case sessions.User, sessions.Attach:
				return append(h, object{"role", "user", "content", s.Text})
			case sessions.Say:
				return append(h, object{"role", "assistant", "content", s.Text})
			case sessions.Use:
				return append(h, object{"role", "assistant", "content", nil, "tool_calls", []any{object{"id", s.ID, "type", "function",
					"function", object{"name", s.Tool, "arguments", encode(arguments(s))}}}})
			case sessions.Result:
				return append(h, object{"role", "tool", "tool_call_id", s.ID, "content", s.Out})
			}
			return h
		},
		func(h []any, system string, tools []any) []any {
			return object{"model", "any", "tools", tools, "messages", append([]any{object{"role", "system", "content", system}}, h...)}
		}, false},
	{"Gemini", "/v1beta/models/gemini-3-pro:generateContent",
		func(h []any, s sessions.Step) []any {
			part := func(role string, parts ...any) []any { return append(h, object{"role", role, "parts", parts}) }
			switch s.Kind {
			case sessions.User, sessions.Attach:
				return part("user", object{"text", s.Text})
			case sessions.Say:
				return part("model", object{"text", s.Text})
			case sessions.Use:
				return part("model", object{"functionCall", object{"id", s.ID, "name", s.Tool, "args", arguments(s)}})
			case sessions.Result:
				return part("user", object{"functionResponse", object{"id", s.ID, "name", s.Tool, "response", object{"output", s.Out}}})
			}
			return h
		},
		func(h []any, system string, tools []any) []any {
			return object{"tools", tools, "systemInstruction", object{"parts", []any{object{"text", system}}}, "contents", h}
		}, false},
}

// thinking is Anthropic's API with a model that binds its thinking to what stands before it.
func thinking() api {
	a := apis[0]
	a.name, a.thinks = "Anthropic Messages, thinking", true
	a.body = func(h []any, system string, tools []any) []any {
		return object{"model", "claude-opus-5-5", "max_tokens", 1000, "tools", tools, "system", system, "messages", h}
	}
	return a
}

// arguments returns a call's arguments, never null.
func arguments(s sessions.Step) map[string]any {
	if s.Args == nil {
		return map[string]any{}
	}
	return s.Args
}
