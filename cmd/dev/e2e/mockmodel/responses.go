package mockmodel

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
)

// Cited is the page that an answer after a search cites.
const Cited = "https://example.com/found"

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
			"output": responseItems(taken, turn), "usage": m.usage(r),
		})
		return
	}
	stream(w, responseEvents(id, taken, turn, m.usage(r))...)
}

func responseEvents(id string, n int, t Turn, usage map[string]any) []map[string]any {
	events := []map[string]any{{"type": "response.created", "response": map[string]any{"id": id}}}
	for _, item := range responseItems(n, t) {
		events = append(events, itemEvents(len(events)-1, item, t.Search != "")...)
	}
	return append(events, map[string]any{
		"type": "response.completed", "response": map[string]any{"id": id, "usage": usage},
	})
}

// itemEvents returns the events of an item. The stream of a turn that searches the web is whole, as the API documents it.
func itemEvents(at int, item map[string]any, whole bool) []map[string]any {
	done := map[string]any{"type": "response.output_item.done", "output_index": at, "item": item}
	if !whole {
		return []map[string]any{done}
	}
	event := func(kind string, more map[string]any) map[string]any {
		e := map[string]any{"type": "response." + kind, "output_index": at, "item_id": item["id"]}
		maps.Copy(e, more)
		return e
	}
	begun := maps.Clone(item)
	begun["status"] = "in_progress"
	events := []map[string]any{{"type": "response.output_item.added", "output_index": at, "item": begun}}
	switch item["type"] {
	case "web_search_call":
		delete(begun, "action")
		for _, state := range []string{"in_progress", "searching", "completed"} {
			events = append(events, event("web_search_call."+state, nil))
		}
	case "message":
		begun["content"] = []any{}
		part := item["content"].([]map[string]any)[0]
		empty := map[string]any{"type": "output_text", "text": "", "annotations": []any{}}
		events = append(events, event("content_part.added", map[string]any{"content_index": 0, "part": empty}),
			event("output_text.delta", map[string]any{"content_index": 0, "delta": part["text"]}))
		for i, a := range part["annotations"].([]map[string]any) {
			events = append(events, event("output_text.annotation.added", map[string]any{"content_index": 0, "annotation_index": i, "annotation": a}))
		}
		events = append(events, event("output_text.done", map[string]any{"content_index": 0, "text": part["text"]}),
			event("content_part.done", map[string]any{"content_index": 0, "part": part}))
	}
	return append(events, done)
}

func responseItems(n int, t Turn) []map[string]any {
	var items []map[string]any
	text := map[string]any{"type": "output_text", "text": t.Text}
	if t.Search != "" {
		items = append(items, map[string]any{
			"type": "web_search_call", "id": fmt.Sprintf("ws_%d", n), "status": "completed", "action": map[string]any{"type": "search", "query": t.Search},
		})
		text["annotations"] = []map[string]any{{"type": "url_citation", "start_index": 0, "end_index": len(t.Text), "url": Cited, "title": "What was found"}}
	}
	if t.Text != "" {
		items = append(items, map[string]any{
			"type": "message", "id": fmt.Sprintf("msg_%d", n), "role": "assistant", "content": []map[string]any{text},
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
