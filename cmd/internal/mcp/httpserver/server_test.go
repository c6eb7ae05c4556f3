package httpserver

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// place is a running server with the real tools, and its log.
type place struct {
	t      *testing.T
	url    string
	root   string
	server *mcpserver.Server
	web    *httptest.Server

	mu     sync.Mutex
	events []fsm.Event
}

func newPlace(t *testing.T, change func(*Config)) *place {
	t.Helper()
	return newPlaceWith(t, nil, change)
}

func newPlaceWith(t *testing.T, env []string, change func(*Config)) *place {
	t.Helper()
	p := &place{t: t, root: t.TempDir()}
	config, _, err := settings.Load(settings.HTTP, map[string]string{"root": p.root}, settings.FromEnv(env))
	require.NoError(t, err)
	parts, err := assemble.Make(t.Context(), assemble.HTTP, assemble.Options{
		Settings: config, Env: append(os.Environ(), "HOME=/"), // a login shell's profile must not influence the test
		Version: "1.2.3", Emit: p.emit,
	})
	require.NoError(t, err)
	p.server = parts.Server
	c := Config{Server: p.server, Version: "1.2.3"}
	if change != nil {
		change(&c)
	}
	p.web = httptest.NewServer(NewHandler(c))
	t.Cleanup(p.web.Close)
	p.url = p.web.URL
	return p
}

func (p *place) emit(e fsm.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events = append(p.events, e)
}

// logged reports whether an event with the reason was logged; "" matches any reason.
func (p *place) logged(name, reason string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.events, func(e fsm.Event) bool {
		return e.Name == name && (reason == "" || e.Data["reason"] == reason)
	})
}

func (p *place) eventually(event, reason string) {
	p.t.Helper()
	require.Eventually(p.t, func() bool { return p.logged(event, reason) }, time.Minute, 5*time.Millisecond, "%s %s", event, reason)
}

func (p *place) file(name, text string) {
	p.t.Helper()
	require.NoError(p.t, os.WriteFile(filepath.Join(p.root, name), []byte(text), 0o600))
}

func (p *place) has(name string) bool {
	_, err := os.Stat(filepath.Join(p.root, name))
	return err == nil
}

func (p *place) waitFor(name string) {
	p.t.Helper()
	require.Eventually(p.t, func() bool { return p.has(name) }, time.Minute, 5*time.Millisecond, name)
}

// send sends a request. Headers are given as "Name: value"; the content type is JSON by default.
func (p *place) send(method, path, body string, headers ...string) (*http.Response, string) {
	p.t.Helper()
	response, err := http.DefaultClient.Do(p.request(method, path, strings.NewReader(body), headers...))
	require.NoError(p.t, err)
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	require.NoError(p.t, err)
	return response, string(raw)
}

func (p *place) request(method, path string, body io.Reader, headers ...string) *http.Request {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.url+path, body)
	require.NoError(p.t, err)
	r.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		switch {
		case name == "":
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header.Set(name, value)
		}
	}
	return r
}

// post posts a message.
func (p *place) post(body string, headers ...string) (*http.Response, string) {
	p.t.Helper()
	return p.send(http.MethodPost, "/mcp", body, headers...)
}

// ask posts a message and decodes what must be a JSON-RPC answer.
func (p *place) ask(body string, headers ...string) answer {
	p.t.Helper()
	response, text := p.post(body, headers...)
	require.Equal(p.t, http.StatusOK, response.StatusCode, text)
	require.Equal(p.t, "application/json", response.Header.Get("Content-Type"))
	return decodeAnswer(p.t, text)
}

// answer holds the members of a JSON-RPC answer that tests inspect.
type answer struct {
	ID     json.RawMessage
	Result struct {
		ProtocolVersion   string
		Content           []struct{ Text string }
		StructuredContent map[string]any
		IsError           bool
	}
	Error struct {
		Code int
		Data struct {
			Tool        string
			Issues      []map[string]string
			FieldErrors []map[string]string `json:"field_errors"`
		}
	}
}

func decodeAnswer(t *testing.T, text string) answer {
	t.Helper()
	var a answer
	require.NoError(t, json.NewDecoder(bytes.NewReader([]byte(text))).Decode(&a), text)
	return a
}

func (a answer) text() string {
	if len(a.Result.Content) == 0 {
		return ""
	}
	return a.Result.Content[0].Text
}

func message(method string, params any) string {
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil { // plain values always marshal
		panic(err)
	}
	return string(raw)
}

func call(tool string, args map[string]any) string {
	return message("tools/call", map[string]any{"name": tool, "arguments": args})
}

func bash(command string) string {
	return call("bash", map[string]any{"command": command, "timeout_ms": 300_000}) // a large limit, so that a busy machine does not fail the test
}

func hello(client string) string {
	return message("initialize", map[string]any{"protocolVersion": "2025-06-18", "clientInfo": map[string]any{"name": client, "version": "1"}})
}

// open initializes a session and returns the header that names it.
func (p *place) open(client string) string {
	p.t.Helper()
	response, _ := p.post(hello(client))
	id := response.Header.Get("Mcp-Session-Id")
	require.NotEmpty(p.t, id)
	return "Mcp-Session-Id: " + id
}
