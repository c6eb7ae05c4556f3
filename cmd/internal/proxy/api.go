package proxy

import (
	"net/url"
	"strings"
)

// api is one of the interfaces that the proxy understands.
type api struct {
	name   string
	parse  func([]byte) (*conversation, error)
	counts bool // it only counts tokens
}

// apiOf finds out which interface a request is for by its path; nil when it is none
// that carries a conversation.
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

// Where each interface's requests go when no upstream is named.
var (
	anthropic = &url.URL{Scheme: "https", Host: "api.anthropic.com"}
	openai    = &url.URL{Scheme: "https", Host: "api.openai.com"}
	gemini    = &url.URL{Scheme: "https", Host: "generativelanguage.googleapis.com"}
)

// home is where a request goes by itself: by its path, or by how it says whose it is.
func home(path string, header func(string) string) *url.URL {
	switch {
	case strings.Contains(path, "/v1beta") || strings.Contains(path, "Content") || header("X-Goog-Api-Key") != "":
		return gemini
	case header("X-Api-Key") != "" || header("Anthropic-Version") != "" || strings.Contains(path, "/messages"):
		return anthropic
	}
	return openai
}
