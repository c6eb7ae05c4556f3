package capture

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// object is an object of JSON.
type object = map[string]any

// word is the stand-in's answer: the model has nothing to do.
const word = "ok"

// answer answers a request with one word, in the form of its API. No tool is called.
func answer(w http.ResponseWriter, path string, api *wire.API, stream bool) {
	if api.Counts {
		writeJSON(w, object{"input_tokens": 1, "totalTokens": 1})
		return
	}
	switch api.Name {
	case "anthropic-messages":
		message := object{"id": "msg_1", "type": "message", "role": "assistant", "model": "stand-in", "stop_reason": "end_turn", "stop_sequence": nil,
			"content": []any{object{"type": "text", "text": word}}, "usage": object{"input_tokens": 1, "output_tokens": 1}}
		if !stream {
			writeJSON(w, message)
			return
		}
		writeEvents(w, messageEvents(message))
	case "openai-responses":
		item := object{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
			"content": []any{object{"type": "output_text", "text": word, "annotations": []any{}}}}
		response := object{"id": "resp_1", "object": "response", "created_at": 1, "model": "stand-in", "status": "completed", "output": []any{item},
			"usage": object{"input_tokens": 1, "input_tokens_details": object{"cached_tokens": 0}, "output_tokens": 1,
				"output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 2}}
		if !stream {
			writeJSON(w, response)
			return
		}
		writeEvents(w, responseEvents(item, response))
	case "openai-chat":
		writeChat(w, stream)
	default: // Gemini
		reply := object{"candidates": []any{object{"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": []any{object{"text": word}}}}},
			"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}, "modelVersion": "stand-in"}
		if !strings.HasSuffix(path, ":streamGenerateContent") { // a helper request, which wants more than a word, and asks again
			http.Error(w, `{"error":{"code":400,"message":"this is a stand-in of mcp-pruner","status":"INVALID_ARGUMENT"}}`, http.StatusBadRequest)
			return
		}
		writeData(w, encode(reply))
	}
}

func messageEvents(message object) []object {
	start := maps.Clone(message)
	start["content"], start["stop_reason"] = []any{}, nil
	return []object{
		{"type": "message_start", "message": start},
		{"type": "content_block_start", "index": 0, "content_block": object{"type": "text", "text": ""}},
		{"type": "content_block_delta", "index": 0, "delta": object{"type": "text_delta", "text": word}},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": object{"stop_reason": "end_turn", "stop_sequence": nil}, "usage": object{"output_tokens": 1}},
		{"type": "message_stop"},
	}
}

func responseEvents(item, response object) []object {
	begun, pending := maps.Clone(response), maps.Clone(item)
	begun["status"], begun["output"] = "in_progress", []any{}
	pending["status"], pending["content"] = "in_progress", []any{}
	at := object{"item_id": "msg_1", "output_index": 0, "content_index": 0}
	text := func(kind string, more object) object {
		e := object{"type": kind}
		maps.Copy(e, at)
		maps.Copy(e, more)
		return e
	}
	part := object{"type": "output_text", "text": word, "annotations": []any{}}
	return []object{
		{"type": "response.created", "response": begun},
		{"type": "response.output_item.added", "output_index": 0, "item": pending},
		text("response.content_part.added", object{"part": object{"type": "output_text", "text": "", "annotations": []any{}}}),
		text("response.output_text.delta", object{"delta": word}),
		text("response.output_text.done", object{"text": word}),
		text("response.content_part.done", object{"part": part}),
		{"type": "response.output_item.done", "output_index": 0, "item": item},
		{"type": "response.completed", "response": response},
	}
}

func writeChat(w http.ResponseWriter, stream bool) {
	reply := object{"id": "chatcmpl_1", "object": "chat.completion", "created": 1, "model": "stand-in",
		"usage": object{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
	message := object{"role": "assistant", "content": word}
	if !stream {
		reply["choices"] = []any{object{"index": 0, "finish_reason": "stop", "message": message}}
		writeJSON(w, reply)
		return
	}
	reply["object"], reply["choices"] = "chat.completion.chunk", []any{object{"index": 0, "finish_reason": "stop", "delta": message}}
	writeData(w, encode(reply), "[DONE]")
}

// writeEvents writes server-sent events, named by their types and numbered.
func writeEvents(w http.ResponseWriter, events []object) {
	w.Header().Set("Content-Type", "text/event-stream")
	var b strings.Builder
	for i, e := range events {
		e["sequence_number"] = i
		b.WriteString("event: " + e["type"].(string) + "\ndata: " + encode(e) + "\n\n")
	}
	_, _ = io.WriteString(w, b.String())
}

// writeData writes server-sent events without names.
func writeData(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, "data: "+strings.Join(events, "\r\n\r\ndata: ")+"\r\n\r\n")
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, encode(v))
}

func encode(v any) string {
	b, _ := json.Marshal(v) // maps of texts and numbers
	return string(b)
}
