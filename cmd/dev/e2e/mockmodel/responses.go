package mockmodel

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// responses answers a request to the Responses API as Codex and the OpenAI Agents SDK use it, which differ in the stream.
func (m *Model) responses(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Stream bool            `json:"stream"`
		Model  string          `json:"model"`
		Input  json.RawMessage `json:"input"` // a text or items
	}
	if !m.receive(w, r, &body, func() bool { return true }) {
		return
	}
	var items []struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(body.Input, &items) // a text: no items
	calls, outputs := 0, 0                 // all calls of a turn precede their outputs
	taken := 0
	for _, item := range items {
		switch item.Type {
		case "function_call", "custom_tool_call":
			if calls == outputs {
				taken++
			}
			calls++
		case "function_call_output", "custom_tool_call_output":
			outputs++
		}
	}
	id, turn := fmt.Sprintf("resp_%d", taken), m.turn(taken)
	if !body.Stream {
		writeJSON(w, map[string]any{
			"id": id, "object": "response", "created_at": 1, "status": "completed", "model": body.Model,
			"output": responseItems(taken, turn), "usage": responseUsage(),
		})
		return
	}
	stream(w, responseEvents(id, taken, turn)...)
}

func responseUsage() map[string]any {
	return map[string]any{
		"input_tokens": 100, "input_tokens_details": nil, "output_tokens": 10,
		"output_tokens_details": nil, "total_tokens": 110,
	}
}

func responseEvents(id string, n int, t Turn) []map[string]any {
	events := []map[string]any{{"type": "response.created", "response": map[string]any{"id": id}}}
	for _, item := range responseItems(n, t) {
		events = append(events, map[string]any{"type": "response.output_item.done", "item": item})
	}
	return append(events, map[string]any{
		"type": "response.completed", "response": map[string]any{"id": id, "usage": responseUsage()},
	})
}

func responseItems(n int, t Turn) []map[string]any {
	var items []map[string]any
	if t.Text != "" {
		items = append(items, map[string]any{
			"type": "message", "id": fmt.Sprintf("msg_%d", n), "role": "assistant",
			"content": []map[string]any{{"type": "output_text", "text": t.Text}},
		})
	}
	for i, c := range t.Calls {
		item := map[string]any{
			"type": "function_call", "id": fmt.Sprintf("fc_%d_%d", n, i), "call_id": fmt.Sprintf("call_%d_%d", n, i),
			"name": c.Tool, "arguments": asJSON(c.Args),
		}
		if c.Code != "" {
			item = map[string]any{"type": "custom_tool_call", "id": item["id"], "call_id": item["call_id"], "name": c.Tool, "input": c.Code}
		}
		if c.Server != "" {
			item["namespace"] = "mcp__" + c.Server
		}
		items = append(items, item)
	}
	return items
}
