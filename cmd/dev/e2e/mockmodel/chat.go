package mockmodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// chat answers a request to the Chat Completions API as opencode uses it. A request without tools is not a model turn:
// the client wants a title, for example.
func (m *Model) chat(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Model    string            `json:"model"`
		Stream   bool              `json:"stream"`
		Tools    []json.RawMessage `json:"tools"`
		Messages []struct {
			Role string `json:"role"`
		} `json:"messages"`
	}
	if !m.receive(w, r, &body, func() bool { return len(body.Tools) > 0 }) {
		return
	}
	turn, taken := Turn{Text: "ok"}, 0
	if len(body.Tools) > 0 {
		for _, message := range body.Messages {
			if message.Role == "assistant" {
				taken++
			}
		}
		turn = m.turn(taken)
	}
	message, reason := chatMessage(taken, turn), "stop"
	if len(turn.Calls) > 0 {
		reason = "tool_calls"
	}
	answer := map[string]any{
		"id": fmt.Sprintf("chatcmpl_%d", taken), "created": 1, "model": body.Model,
		"usage": m.usage(r),
	}
	choice := map[string]any{"index": 0, "finish_reason": reason}
	answer["choices"] = []any{choice}
	if !body.Stream {
		answer["object"], choice["message"] = "chat.completion", message
		writeJSON(w, answer)
		return
	}
	answer["object"], choice["delta"] = "chat.completion.chunk", message
	streamData(w, answer)
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

func chatMessage(n int, t Turn) map[string]any {
	message := map[string]any{"role": "assistant", "content": t.Text}
	var calls []any
	for i, c := range t.Calls {
		calls = append(calls, map[string]any{
			"index": i, "id": fmt.Sprintf("call_%d_%d", n, i), "type": "function",
			"function": map[string]any{"name": c.named("_", ""), "arguments": asJSON(c.Args)},
		})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	return message
}

// named returns the name under which the client offers the tool to the model. For a tool of an MCP server it is before,
// the server's name, between and the tool's name joined together; the two separators depend on the client.
func (c Call) named(between, before string) string {
	if c.Server == "" {
		return c.Tool
	}
	return before + c.Server + between + c.Tool
}

// streamData writes server-sent events without names.
func streamData(w http.ResponseWriter, events ...any) {
	w.Header().Set("Content-Type", "text/event-stream")
	var b strings.Builder
	for _, e := range events {
		b.WriteString("data: " + asJSON(e) + "\r\n\r\n")
	}
	_, _ = io.WriteString(w, b.String())
}
