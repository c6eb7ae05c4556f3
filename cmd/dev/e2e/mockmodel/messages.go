package mockmodel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/promptcache"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest"
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
	raw, ok := m.accept(w, r)
	if !ok || !m.receive(w, r, &body, func() bool { return len(body.Tools) > 0 }) {
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
	content := contentBlocks(taken, turn)
	if m.Thinks && len(body.Tools) > 0 {
		signature, _ := tooltest.SignThinking(raw) // it is valid JSON
		content = append([]map[string]any{{"type": "thinking", "thinking": fmt.Sprintf("Thought %d.", taken), "signature": signature}}, content...)
	}
	message := map[string]any{
		"id": fmt.Sprintf("msg_%d", taken), "type": "message", "role": "assistant", "model": body.Model,
		"content": content, "stop_reason": stopReason(turn), "stop_sequence": nil,
		"usage": m.usage(r),
	}
	if !body.Stream {
		writeJSON(w, message)
		return
	}
	stream(w, messageEvents(message)...)
}

func (m *Model) countTokens(w http.ResponseWriter, r *http.Request) {
	if _, ok := m.accept(w, r); ok {
		writeJSON(w, map[string]any{"input_tokens": 10})
	}
}

// accept reads a request, checks it as the Messages API does, and answers it if that fails.
func (m *Model) accept(w http.ResponseWriter, r *http.Request) (body []byte, ok bool) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return nil, false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	dropped, message := tooltest.CheckThinking(body)
	if err := promptcache.Check(r.URL.Path, body); message == "" && err != nil {
		message = err.Error()
	}
	if message == "" && m.Refuses != nil {
		message = m.Refuses(body)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropped += dropped
	if message == "" {
		return body, true
	}
	m.refused = append(m.refused, message)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = io.WriteString(w, asJSON(map[string]any{"type": "error", "error": map[string]any{"type": "invalid_request_error", "message": message}}))
	return nil, false
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
			"usage": map[string]any{"output_tokens": answered},
		},
		map[string]any{"type": "message_stop"})
}

func blockEvents(i int, block map[string]any) []map[string]any {
	var empty map[string]any
	var deltas []map[string]any
	switch block["type"] {
	case "thinking":
		empty = map[string]any{"type": "thinking", "thinking": "", "signature": ""}
		deltas = []map[string]any{{"type": "thinking_delta", "thinking": block["thinking"]}, {"type": "signature_delta", "signature": block["signature"]}}
	case "text":
		empty = map[string]any{"type": "text", "text": ""}
		deltas = []map[string]any{{"type": "text_delta", "text": block["text"]}}
	default:
		empty = map[string]any{"type": "tool_use", "id": block["id"], "name": block["name"], "input": map[string]any{}}
		deltas = []map[string]any{{"type": "input_json_delta", "partial_json": asJSON(block["input"])}}
	}
	events := []map[string]any{{"type": "content_block_start", "index": i, "content_block": empty}}
	for _, delta := range deltas {
		events = append(events, map[string]any{"type": "content_block_delta", "index": i, "delta": delta})
	}
	return append(events, map[string]any{"type": "content_block_stop", "index": i})
}
