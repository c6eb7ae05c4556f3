// Package mockmodel is a model API that answers from a script, to run real clients without a model. It has the
// necessary parts of the Responses API (Codex), the Messages API (Claude Code), Chat Completions (opencode) and
// Gemini's API (Gemini CLI). It keeps every request for the tests.
package mockmodel

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/promptcache"
)

// Call is one tool call of the model. Server is the MCP server's name, or "" for one of the client's own tools.
type Call struct {
	Server string
	Tool   string
	Args   map[string]any
	Code   string // in place of Args: what a custom tool of the Responses API is given
}

// Turn is one answer of the model: tool calls with an optional text before them, or a final text.
type Turn struct {
	Calls []Call
	Text  string
	// Search is what the API itself looks for on the web before the text, which cites what it found (Responses API only).
	Search string
	// Before runs before the turn is answered, unless it is nil. Tests use it to change files between two turns, or to
	// stop a run at a known point.
	Before func()
}

// Model is a running mock model. It plays the same script in every conversation. It counts the turns of a conversation
// in the request itself, so that retries and other requests do not change the count.
type Model struct {
	URL string // the address, set by Start

	// Thinks lets each answer of the Messages API begin with thinking. As by its documentation, thinking that is sent back is
	// checked: it is bound to everything that stood before it.
	Thinks bool

	// Refuses returns why a request to the Messages API is answered 400, or "". Nil: never.
	Refuses func(body []byte) string

	mux      *http.ServeMux
	cache    promptcache.Cache
	turns    []Turn
	mu       sync.Mutex
	requests []Request
	refused  []string
	dropped  int
}

// Request is a client's request for a model turn.
type Request struct {
	Path string
	Body json.RawMessage
}

// New returns a model that plays the script.
func New(turns ...Turn) *Model {
	m := &Model{turns: turns, mux: http.NewServeMux()}
	m.mux.HandleFunc("POST /v1/responses", m.responses)
	m.mux.HandleFunc("POST /v1/messages", m.messages)
	m.mux.HandleFunc("POST /v1/chat/completions", m.chat)
	m.mux.HandleFunc("POST /v1beta/models/", m.gemini)
	m.mux.HandleFunc("POST /v1/messages/count_tokens", m.countTokens)
	return m
}

// Start serves the script until the test ends.
func Start(t testing.TB, turns ...Turn) *Model {
	m := New(turns...)
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections) // before Close, which waits for a killed client's connections
	m.URL = server.URL
	return m
}

// Play replaces the script. It must be called before the first request.
func (m *Model) Play(turns ...Turn) { m.turns = turns }

func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.mux.ServeHTTP(w, r) }

// Requests lists the requests for model turns so far, oldest first.
func (m *Model) Requests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Request(nil), m.requests...)
}

// Refused lists the messages with which requests to the Messages API were refused, and returns how many blocks of thinking were
// dropped because a request asked for that in place of a refusal.
func (m *Model) Refused() (messages []string, dropped int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.refused...), m.dropped
}

// turn runs and returns the script's turn that follows the given number of turns. After the last turn it returns
// "done".
func (m *Model) turn(taken int) Turn {
	if taken >= len(m.turns) {
		return Turn{Text: "done"}
	}
	t := m.turns[taken]
	if t.Before != nil {
		t.Before()
	}
	return t
}

// receive reads a request into body, and keeps it if isTurn returns true. If the request is not valid JSON, receive
// answers it with an error and returns false.
func (m *Model) receive(w http.ResponseWriter, r *http.Request, body any, isTurn func() bool) bool {
	raw, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(raw, body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	if isTurn() {
		m.mu.Lock()
		m.requests = append(m.requests, Request{Path: r.URL.Path, Body: raw})
		m.mu.Unlock()
	}
	return true
}

// answered is the number of tokens of each answer.
const answered = 10

// usage returns the usage of a request by the rule of its API's cache.
func (m *Model) usage(r *http.Request) map[string]any {
	raw, _ := io.ReadAll(r.Body) // receive has read it before
	u, _ := m.cache.Send(r.URL.Path, raw, time.Now())
	return u.In(r.URL.Path, answered)
}

// stream writes server-sent events. Each event's name is its "type".
func stream(w http.ResponseWriter, events ...map[string]any) {
	w.Header().Set("Content-Type", "text/event-stream")
	var b strings.Builder
	for _, e := range events {
		data, err := json.Marshal(e)
		if err != nil {
			panic(err) // the script has a value that JSON cannot represent: a bug of the test
		}
		b.WriteString("event: " + e["type"].(string) + "\ndata: " + string(data) + "\n\n")
	}
	_, _ = io.WriteString(w, b.String())
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
