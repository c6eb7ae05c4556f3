package httpserver

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest"
)

// changing returns a server whose list of tools may change.
func changing(t *testing.T, offered ...tools.Tool) *place {
	p := &place{t: t}
	p.server = mcpserver.New(mcpserver.Config{
		List: func(string) []tools.Tool { return offered }, MaxCalls: 16, Result: "full",
		Pipeline: &states.Pipeline{Machine: fsm.MustCompile(fsm.HTTPRequestTable())},
	})
	p.web = httptest.NewServer(NewHandler(Config{Server: p.server}))
	t.Cleanup(p.web.Close)
	t.Cleanup(p.server.StopListening) // runs before Close, which would wait for the streams
	p.url = p.web.URL
	return p
}

// listen opens a stream and returns its data lines.
func (p *place) listen(method, body string, headers ...string) (data func() string, response *http.Response) {
	p.t.Helper()
	response, err := http.DefaultClient.Do(p.request(method, "/mcp", strings.NewReader(body), headers...))
	require.NoError(p.t, err)
	p.t.Cleanup(func() { response.Body.Close() })
	lines := bufio.NewScanner(response.Body)
	return func() string {
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				return text
			}
		}
		return ""
	}, response
}

const listChanged = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`

// A client with a session listens with GET. The stream ends when the server ends.
func TestChangesOnTheStream(t *testing.T) {
	p := changing(t)
	session := p.open("someone")
	data, response := p.listen(http.MethodGet, "", session, "Accept: text/event-stream")
	require.Equal(t, 200, response.StatusCode)
	assert.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
	p.server.ListChanged(mcpserver.ToolsList)
	assert.JSONEq(t, listChanged, data())
	p.server.ListChanged(mcpserver.ToolsList)
	assert.JSONEq(t, listChanged, data())
	p.server.StopListening()
	assert.Empty(t, data())
}

// In protocol 2026-07-28 a client subscribes with POST.
func TestChangesOnASubscription(t *testing.T) {
	p := changing(t)
	data, response := p.listen(http.MethodPost, modern("subscriptions/listen", map[string]any{"notifications": map[string]any{"toolsListChanged": true}}),
		"Mcp-Protocol-Version: "+modernVersion, "Mcp-Method: subscriptions/listen", "Accept: "+both)
	require.Equal(t, 200, response.StatusCode)
	assert.Contains(t, data(), "notifications/subscriptions/acknowledged")
	p.server.ListChanged(mcpserver.ToolsList)
	assert.Contains(t, data(), `"io.modelcontextprotocol/subscriptionId":1`)
	p.server.StopListening()
	assert.Contains(t, data(), `"resultType":"complete"`)
	assert.Empty(t, data())
}

func TestWhoCannotListen(t *testing.T) {
	p := changing(t)
	session, accept := p.open("someone"), "Accept: text/event-stream"
	for what, c := range map[string]struct {
		status  int
		headers []string
	}{
		"no session":       {400, []string{accept}},
		"no stream taken":  {406, []string{session, "Accept: application/json"}},
		"another version":  {400, []string{session, accept, "Mcp-Protocol-Version: 2001-01-01"}},
		"the new protocol": {405, []string{session, accept, "Mcp-Protocol-Version: " + modernVersion}},
		"an odd session":   {404, []string{accept, "Mcp-Session-Id: x"}},
		"another origin":   {403, []string{session, accept, "Origin: https://example.com"}},
	} {
		response, text := p.send(http.MethodGet, "/mcp", "", c.headers...)
		assert.Equal(t, c.status, response.StatusCode, "%s: %s", what, text)
	}
	response, _ := p.post(modern("subscriptions/listen", map[string]any{"notifications": map[string]any{}}),
		"Mcp-Protocol-Version: "+modernVersion, "Mcp-Method: subscriptions/listen", "Accept: application/json")
	assert.Equal(t, 406, response.StatusCode)
	response, _ = newPlace(t, nil).send(http.MethodGet, "/mcp", "", accept)
	assert.Equal(t, 405, response.StatusCode, "a server whose list never changes has no stream")
}

// The server writes to a stream without news at intervals, and ends it when the client no longer reads.
func TestASilentStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := mcpserver.New(mcpserver.Config{List: func(string) []tools.Tool { return nil }, MaxCalls: 16,
			Pipeline: &states.Pipeline{Machine: fsm.MustCompile(fsm.HTTPRequestTable())}})
		h := NewHandler(Config{Server: server})
		id := h.sessions.add(mcpserver.NewSession("someone"), "")
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/mcp", nil)
		r.Host = "localhost"
		r.Header.Set("Accept", "text/event-stream")
		r.Header.Set("Mcp-Session-Id", id)
		w := &recorder{header: make(http.Header), failAfter: 3}
		h.ServeHTTP(w, r)
		assert.Equal(t, strings.Repeat(string(aliveLine), 3), w.String())
	})
}

// routed returns a tool whose schema names the arguments that headers repeat.
func routed() tools.Tool {
	tool := tooltest.Nap()
	tool.InputSchema = json.RawMessage(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"seconds":{"type":"integer"}}}`)
	return tool
}

func TestHeadersThatRepeatArguments(t *testing.T) {
	p := changing(t, routed())
	body := func(arguments map[string]any) string {
		return modern("tools/call", map[string]any{"name": "nap", "arguments": arguments})
	}
	north, none := body(map[string]any{"region": "north"}), body(map[string]any{})
	for what, c := range map[string]struct {
		body, header string
		status       int
	}{
		"as it should be":      {north, "Mcp-Param-Region: north", 200},
		"with space around it": {north, "Mcp-Param-Region:   north  ", 200},
		"encoded":              {north, "Mcp-Param-Region: =?base64?bm9ydGg=?=", 200},
		"another value":        {north, "Mcp-Param-Region: south", 400},
		"missing":              {north, "", 400},
		"not base64":           {north, "Mcp-Param-Region: =?base64?bm9y!!?=", 400},
		"without an argument":  {none, "Mcp-Param-Region: north", 400},
		"neither":              {none, "", 200},
	} {
		response, text := p.post(c.body, "Mcp-Protocol-Version: "+modernVersion, "Mcp-Method: tools/call", "Mcp-Name:  nap ", c.header)
		assert.Equal(t, c.status, response.StatusCode, "%s: %s", what, text)
		if c.status == 400 {
			assert.Equal(t, -32020, decodeAnswer(t, text).Error.Code, what)
		}
	}
}
