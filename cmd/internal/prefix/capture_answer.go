package prefix

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// jsonObject is an object of JSON.
type jsonObject = map[string]any

// answerWord is the stand-in's answer: the model has nothing to do.
const answerWord = "ok"

// answerClient answers a request with one word, in the form of its API. No tool is called.
func answerClient(w http.ResponseWriter, path string, api *wire.API, stream bool) {
	if api.Counts {
		writeJSON(w, jsonObject{"input_tokens": 1, "totalTokens": 1})
		return
	}
	switch api.Name {
	case "anthropic-messages":
		message := jsonObject{"id": "msg_1", "type": "message", "role": "assistant", "model": "stand-in", "stop_reason": "end_turn", "stop_sequence": nil,
			"content": []any{jsonObject{"type": "text", "text": answerWord}}, "usage": jsonObject{"input_tokens": 1, "output_tokens": 1}}
		if !stream {
			writeJSON(w, message)
			return
		}
		writeEvents(w, messageEvents(message))
	case "openai-responses":
		item := jsonObject{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
			"content": []any{jsonObject{"type": "output_text", "text": answerWord, "annotations": []any{}}}}
		response := jsonObject{"id": "resp_1", "object": "response", "created_at": 1, "model": "stand-in", "status": "completed", "output": []any{item},
			"usage": jsonObject{"input_tokens": 1, "input_tokens_details": jsonObject{"cached_tokens": 0}, "output_tokens": 1,
				"output_tokens_details": jsonObject{"reasoning_tokens": 0}, "total_tokens": 2}}
		if !stream {
			writeJSON(w, response)
			return
		}
		writeEvents(w, responseEvents(item, response))
	case "openai-chat":
		writeChat(w, stream)
	default: // Gemini
		reply := jsonObject{"candidates": []any{jsonObject{"index": 0, "finishReason": "STOP", "content": jsonObject{"role": "model", "parts": []any{jsonObject{"text": answerWord}}}}},
			"usageMetadata": jsonObject{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}, "modelVersion": "stand-in"}
		if !strings.HasSuffix(path, ":streamGenerateContent") { // a helper request, which wants more than a word, and asks again
			http.Error(w, `{"error":{"code":400,"message":"this is a stand-in of mcp-pruner","status":"INVALID_ARGUMENT"}}`, http.StatusBadRequest)
			return
		}
		writeData(w, encodeJSON(reply))
	}
}

func messageEvents(message jsonObject) []jsonObject {
	start := maps.Clone(message)
	start["content"], start["stop_reason"] = []any{}, nil
	return []jsonObject{
		{"type": "message_start", "message": start},
		{"type": "content_block_start", "index": 0, "content_block": jsonObject{"type": "text", "text": ""}},
		{"type": "content_block_delta", "index": 0, "delta": jsonObject{"type": "text_delta", "text": answerWord}},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": jsonObject{"stop_reason": "end_turn", "stop_sequence": nil}, "usage": jsonObject{"output_tokens": 1}},
		{"type": "message_stop"},
	}
}

func responseEvents(item, response jsonObject) []jsonObject {
	begun, pending := maps.Clone(response), maps.Clone(item)
	begun["status"], begun["output"] = "in_progress", []any{}
	pending["status"], pending["content"] = "in_progress", []any{}
	at := jsonObject{"item_id": "msg_1", "output_index": 0, "content_index": 0}
	text := func(kind string, more jsonObject) jsonObject {
		e := jsonObject{"type": kind}
		maps.Copy(e, at)
		maps.Copy(e, more)
		return e
	}
	part := jsonObject{"type": "output_text", "text": answerWord, "annotations": []any{}}
	return []jsonObject{
		{"type": "response.created", "response": begun},
		{"type": "response.output_item.added", "output_index": 0, "item": pending},
		text("response.content_part.added", jsonObject{"part": jsonObject{"type": "output_text", "text": "", "annotations": []any{}}}),
		text("response.output_text.delta", jsonObject{"delta": answerWord}),
		text("response.output_text.done", jsonObject{"text": answerWord}),
		text("response.content_part.done", jsonObject{"part": part}),
		{"type": "response.output_item.done", "output_index": 0, "item": item},
		{"type": "response.completed", "response": response},
	}
}

func writeChat(w http.ResponseWriter, stream bool) {
	reply := jsonObject{"id": "chatcmpl_1", "object": "chat.completion", "created": 1, "model": "stand-in",
		"usage": jsonObject{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
	message := jsonObject{"role": "assistant", "content": answerWord}
	if !stream {
		reply["choices"] = []any{jsonObject{"index": 0, "finish_reason": "stop", "message": message}}
		writeJSON(w, reply)
		return
	}
	reply["object"], reply["choices"] = "chat.completion.chunk", []any{jsonObject{"index": 0, "finish_reason": "stop", "delta": message}}
	writeData(w, encodeJSON(reply), "[DONE]")
}

// writeEvents writes server-sent events, named by their types and numbered.
func writeEvents(w http.ResponseWriter, events []jsonObject) {
	w.Header().Set("Content-Type", "text/event-stream")
	var b strings.Builder
	for i, e := range events {
		e["sequence_number"] = i
		b.WriteString("event: " + e["type"].(string) + "\ndata: " + encodeJSON(e) + "\n\n")
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
	_, _ = io.WriteString(w, encodeJSON(v))
}

func encodeJSON(v any) string {
	b, _ := json.Marshal(v) // maps of texts and numbers
	return string(b)
}
