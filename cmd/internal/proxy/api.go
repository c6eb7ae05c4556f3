package proxy

import (
	"net/url"
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

// The upstream of each API when none is configured.
var (
	anthropic = &url.URL{Scheme: "https", Host: "api.anthropic.com"}
	openai    = &url.URL{Scheme: "https", Host: "api.openai.com"}
	gemini    = &url.URL{Scheme: "https", Host: "generativelanguage.googleapis.com"}
)

// home returns the default upstream of a request, by its path or by the headers that identify the API.
func home(path string, header func(string) string) *url.URL {
	switch {
	case strings.Contains(path, "/v1beta") || strings.Contains(path, "Content") || header("X-Goog-Api-Key") != "":
		return gemini
	case header("X-Api-Key") != "" || header("Anthropic-Version") != "" || strings.Contains(path, "/messages"):
		return anthropic
	}
	return openai
}
