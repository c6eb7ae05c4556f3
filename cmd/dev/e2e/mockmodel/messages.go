package mockmodel

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
)

// messages answers a request to the Messages API as Claude Code uses it. A request without tools is not a model turn:
// the client wants a title or probes the API, for example.
func (m *Model) messages(w http.ResponseWriter, r *http.Request) {
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
	turn := Turn{Text: "ok"}
	taken := 0
	if len(body.Tools) > 0 {
		for _, message := range body.Messages {
			if message.Role == "assistant" {
				taken++
			}
		}
		turn = m.turn(taken)
	}
	message := map[string]any{
		"id": fmt.Sprintf("msg_%d", taken), "type": "message", "role": "assistant", "model": body.Model,
		"content": contentBlocks(taken, turn), "stop_reason": stopReason(turn), "stop_sequence": nil,
		"usage": map[string]any{"input_tokens": 100, "output_tokens": 10},
	}
	if !body.Stream {
		writeJSON(w, message)
		return
	}
	stream(w, messageEvents(message)...)
}

func stopReason(t Turn) string {
	if len(t.Calls) == 0 {
		return "end_turn"
	}
	return "tool_use"
}

func contentBlocks(n int, t Turn) []map[string]any {
	var blocks []map[string]any
	if t.Text != "" {
		blocks = append(blocks, map[string]any{"type": "text", "text": t.Text})
	}
	for i, c := range t.Calls {
		blocks = append(blocks, map[string]any{
			"type": "tool_use", "id": fmt.Sprintf("toolu_%d_%d", n, i), "name": c.named("__", "mcp__"), "input": c.Args,
		})
	}
	return blocks
}

// messageEvents returns the stream of events that builds a complete message.
func messageEvents(message map[string]any) []map[string]any {
	start := maps.Clone(message)
	start["content"], start["stop_reason"] = []any{}, nil
	events := []map[string]any{{"type": "message_start", "message": start}}
	for i, block := range message["content"].([]map[string]any) {
		events = append(events, blockEvents(i, block)...)
	}
	return append(events,
		map[string]any{
			"type": "message_delta", "delta": map[string]any{"stop_reason": message["stop_reason"], "stop_sequence": nil},
			"usage": map[string]any{"output_tokens": 10},
		},
		map[string]any{"type": "message_stop"})
}

func blockEvents(i int, block map[string]any) []map[string]any {
	var empty, delta map[string]any
	if block["type"] == "text" {
		empty = map[string]any{"type": "text", "text": ""}
		delta = map[string]any{"type": "text_delta", "text": block["text"]}
	} else {
		empty = map[string]any{"type": "tool_use", "id": block["id"], "name": block["name"], "input": map[string]any{}}
		delta = map[string]any{"type": "input_json_delta", "partial_json": asJSON(block["input"])}
	}
	return []map[string]any{
		{"type": "content_block_start", "index": i, "content_block": empty},
		{"type": "content_block_delta", "index": i, "delta": delta},
		{"type": "content_block_stop", "index": i},
	}
}
