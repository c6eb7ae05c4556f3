package proxy

import (
	"net/http"
	"strings"
)

// api is one of the model APIs that the proxy understands.
type api struct {
	name   string
	parse  func([]byte) (*conversation, error)
	counts bool // the request only counts tokens
}

// apiOf determines the API of a request by its path. It returns nil if the path carries no conversation.
func apiOf(path string) *api {
	switch {
	case strings.HasSuffix(path, "/messages"):
		return &api{name: "anthropic-messages", parse: parseMessages}
	case strings.HasSuffix(path, "/messages/count_tokens"):
		return &api{name: "anthropic-messages", parse: parseMessages, counts: true}
	case strings.HasSuffix(path, "/responses"):
		return &api{name: "openai-responses", parse: parseResponses}
	case strings.HasSuffix(path, "/chat/completions"):
		return &api{name: "openai-chat", parse: parseChat}
	case strings.HasSuffix(path, ":generateContent"), strings.HasSuffix(path, ":streamGenerateContent"):
		return &api{name: "gemini", parse: parseGemini}
	case strings.HasSuffix(path, ":countTokens"):
		return &api{name: "gemini", parse: parseGemini, counts: true}
	}
	return nil
}

// refuse answers a request with an error of the proxy's own, in the shape of the API that the request is for. A request
// that could be for several gets a shape that the clients of each can read.
func refuse(w http.ResponseWriter, r *http.Request, status int, message string) {
	text := "mcp-pruner proxy: " + message
	kind := "invalid_request_error"
	if status >= http.StatusInternalServerError {
		kind = "api_error"
	}
	var body any
	owners := ownersOf(r.URL.Path)
	if len(owners) != 1 {
		if owners = identified(r); len(owners) != 1 {
			owners = []*provider{nil}
		}
	}
	switch owners[0] {
	case gemini:
		code := "FAILED_PRECONDITION"
		if status >= http.StatusInternalServerError {
			code = "UNAVAILABLE"
		}
		body = map[string]any{"error": map[string]any{"code": status, "message": text, "status": code}}
	case openai:
		body = map[string]any{"error": map[string]any{"message": text, "type": kind, "param": nil, "code": nil}}
	default:
		body = map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": text}}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(body))
}
