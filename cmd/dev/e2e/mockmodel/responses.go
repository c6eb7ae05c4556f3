package mockmodel

import (
	"fmt"
	"net/http"
)

// responses answers a request to the Responses API as Codex uses it.
func (m *Model) responses(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Input []struct {
			Type string `json:"type"`
			Role string `json:"role"`
		} `json:"input"`
	}
	if !m.receive(w, r, &body, func() bool { return true }) {
		return
	}
	calls, outputs := 0, 0 // all calls of a turn precede their outputs
	taken := 0
	for _, item := range body.Input {
		switch item.Type {
		case "function_call":
			if calls == outputs {
				taken++
			}
			calls++
		case "function_call_output":
			outputs++
		}
	}
	stream(w, responseEvents(fmt.Sprintf("resp_%d", taken), taken, m.turn(taken))...)
}

func responseEvents(id string, n int, t Turn) []map[string]any {
	events := []map[string]any{{"type": "response.created", "response": map[string]any{"id": id}}}
	for _, item := range responseItems(n, t) {
		events = append(events, map[string]any{"type": "response.output_item.done", "item": item})
	}
	usage := map[string]any{
		"input_tokens": 100, "input_tokens_details": nil, "output_tokens": 10,
		"output_tokens_details": nil, "total_tokens": 110,
	}
	return append(events, map[string]any{
		"type": "response.completed", "response": map[string]any{"id": id, "usage": usage},
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
		if c.Server != "" {
			item["namespace"] = "mcp__" + c.Server
		}
		items = append(items, item)
	}
	return items
}
