package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

// api writes a history in the form of a model's API.
type api struct {
	name, path string
	model      string                                     // in the requests, and of the prices
	add        func(history []any, s sessions.Step) []any // the messages with one more step
	body       func(r request) []any
	thinks     bool // the model thinks in each answer, and its API checks what that is bound to
}

// request is what each API writes in its form.
type request struct {
	model, system string
	tools         []any
	history       []any
	hour          bool // the cache shall keep it for an hour
}

// marked returns Anthropic's messages with a mark on the last block that can carry one, as its clients set it.
func (r request) marked() []any {
	for i := len(r.history) - 1; i >= 0; i-- {
		message := r.history[i].(object)
		blocks := slices.Clone(message[3].([]any))
		last := len(blocks) - 1
		block := blocks[last].(object)
		if kind := block[1]; kind == "thinking" || kind == "text" && block[3] == "" {
			continue
		}
		all := slices.Clone(r.history)
		blocks[last] = append(slices.Clone(block), "cache_control", r.mark())
		all[i] = object{message[0], message[1], "content", blocks}
		return all
	}
	return r.history
}

func (r request) mark() object {
	if r.hour {
		return object{"type", "ephemeral", "ttl", "1h"}
	}
	return object{"type", "ephemeral"}
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

// answered adds a block of an answer. One that follows thinking stands in its message: thinking alone is none.
func answered(h []any, block object) []any {
	if len(h) > 0 {
		message := h[len(h)-1].(object)
		if blocks := message[3].([]any); len(blocks) == 1 && blocks[0].(object)[1] == "thinking" {
			return append(h[:len(h)-1:len(h)-1], object{"role", "assistant", "content", []any{blocks[0], block}})
		}
	}
	return append(h, object{"role", "assistant", "content", []any{block}})
}

var apis = []api{
	{"Anthropic Messages", "/v1/messages", "claude",
		func(h []any, s sessions.Step) []any {
			switch s.Kind {
			case sessions.User, sessions.Attach:
				return append(h, object{"role", "user", "content", []any{object{"type", "text", "text", s.Text}}})
			case sessions.Say:
				if s.Think != "" {
					return answered(h, object{"type", "thinking", "thinking", s.Text, "signature", s.Think})
				}
				return answered(h, object{"type", "text", "text", s.Text})
			case sessions.Use:
				return answered(h, object{"type", "tool_use", "id", s.ID, "name", s.Tool, "input", arguments(s)})
			case sessions.Result:
				return append(h, object{"role", "user", "content", []any{object{"type", "tool_result", "tool_use_id", s.ID, "content", s.Out}}})
			}
			return h
		},
		func(r request) []any {
			system := []any{object{"type", "text", "text", r.system, "cache_control", r.mark()}}
			return object{"model", r.model, "max_tokens", 1000, "tools", r.tools, "system", system, "messages", r.marked()}
		}, false},
	{"OpenAI Responses", "/v1/responses", "gpt-5.5",
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
		func(r request) []any {
			return object{"model", r.model, "tools", r.tools, "instructions", r.system, "input", r.history}
		}, false},
	{"OpenAI Chat", "/v1/chat/completions", "gpt-5.3-codex",
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
		func(r request) []any {
			return object{"model", r.model, "tools", r.tools, "messages", append([]any{object{"role", "system", "content", r.system}}, r.history...)}
		}, false},
	{"Gemini", "/v1beta/models/gemini-3-pro:generateContent", "gemini-3-pro",
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
		func(r request) []any {
			return object{"tools", r.tools, "systemInstruction", object{"parts", []any{object{"text", r.system}}}, "contents", r.history}
		}, false},
}

// thinking is Anthropic's API with a model that binds its thinking to what stands before it.
func thinking() api {
	a := apis[0]
	a.name, a.model, a.thinks = "Anthropic Messages, thinking", "claude-opus-5-5", true
	return a
}

// arguments returns a call's arguments, never null.
func arguments(s sessions.Step) map[string]any {
	if s.Args == nil {
		return map[string]any{}
	}
	return s.Args
}
