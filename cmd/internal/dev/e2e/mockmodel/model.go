// Package mockmodel is a model API that answers from a script: enough of the
// Responses API for Codex, of the Messages API for Claude, of Chat Completions for
// opencode and of Gemini's for its CLI to drive the real clients without a model, with
// every request kept for the tests to look at.
package mockmodel

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Call is one tool call the model makes. Server is the MCP server's name; ""
// means one of the client's own tools.
type Call struct {
	Server string
	Tool   string
	Args   map[string]any
}

// Turn is one answer of the model: calls, with words before them or without, or a
// final text.
type Turn struct {
	Calls []Call
	Text  string
	// Before runs before the turn is answered; nil does nothing. Tests use it to
	// change the world between two turns, or to hold a run at a known point.
	Before func()
}

// Model is a running mock. It plays one script to every conversation: how far a
// conversation is shows in the request itself, so retries and side requests do
// not disturb it.
type Model struct {
	URL string // where Start serves it

	mux      *http.ServeMux
	turns    []Turn
	mu       sync.Mutex
	requests []Request
}

// Request is one request a client made for a model turn.
type Request struct {
	Path string
	Body json.RawMessage
}

// New makes a model that plays the script.
func New(turns ...Turn) *Model {
	m := &Model{turns: turns, mux: http.NewServeMux()}
	m.mux.HandleFunc("POST /v1/responses", m.responses)
	m.mux.HandleFunc("POST /v1/messages", m.messages)
	m.mux.HandleFunc("POST /v1/chat/completions", m.chat)
	m.mux.HandleFunc("POST /v1beta/models/", m.gemini)
	m.mux.HandleFunc("POST /v1/messages/count_tokens", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, map[string]any{"input_tokens": 10})
	})
	return m
}

// Start serves the script until the test ends.
func Start(t testing.TB, turns ...Turn) *Model {
	m := New(turns...)
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections) // first: a killed client may leave one busy
	m.URL = server.URL
	return m
}

// Play replaces the script, before the first request.
func (m *Model) Play(turns ...Turn) { m.turns = turns }

func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.mux.ServeHTTP(w, r) }

// Requests lists the requests for model turns so far, oldest first.
func (m *Model) Requests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Request(nil), m.requests...)
}

// turn is the script's turn after the given number of turns were taken. A
// conversation that goes on past the script hears "done".
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

// receive reads a request and, when it is for a model turn, keeps it.
func (m *Model) receive(w http.ResponseWriter, r *http.Request, body any, isTurn func() bool) bool {
	raw, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(raw, body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return false
	}
	if isTurn() {
		m.mu.Lock()
		m.requests = append(m.requests, Request{Path: r.URL.Path, Body: raw})
		m.mu.Unlock()
	}
	return true
}

// stream writes server-sent events, each named after its "type".
func stream(w http.ResponseWriter, events ...map[string]any) {
	w.Header().Set("Content-Type", "text/event-stream")
	var b strings.Builder
	for _, e := range events {
		data, err := json.Marshal(e)
		if err != nil {
			panic(err) // the script's own values; a test bug
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
