package httpserver

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
)

func TestEndpoints(t *testing.T) {
	p := newPlace(t, nil)
	ping := message("ping", nil)
	for _, c := range []struct {
		method, path, body string
		header             string
		status             int
		code               string // of the error; "": no error
	}{
		{"GET", "/healthz", "", "", 200, ""},
		{"HEAD", "/healthz", "", "", 200, ""},
		{"POST", "/healthz", "", "", 405, "method_not_allowed"},
		{"POST", "/mcp", ping, "", 200, ""},
		{"POST", "/mcp", ping, "Content-Type: application/json; charset=utf-8", 200, ""},
		{"POST", "/mcp", ping, "Content-Type: Application/JSON", 200, ""},
		{"POST", "/mcp", ping, "Content-Type: text/plain", 415, "unsupported_media_type"},
		{"POST", "/mcp", ping, "Content-Type: ", 415, "unsupported_media_type"},
		{"POST", "/mcp", ping, "Content-Type: application/x-www-form-urlencoded", 415, "unsupported_media_type"},
		{"POST", "/mcp", ping, "Content-Type: application/jsonp", 415, "unsupported_media_type"},
		{"POST", "/mcp", ping, "Content-Encoding: gzip", 415, "unsupported_media_type"},
		{"POST", "/mcp", ping, "Accept: application/json, text/event-stream", 200, ""},
		{"POST", "/mcp", ping, "Accept: */*", 200, ""},
		{"POST", "/mcp", ping, "Accept: text/event-stream", 406, "not_acceptable"},
		{"POST", "/mcp", ping, "Accept: application/json;q=0", 406, "not_acceptable"},
		{"POST", "/mcp", ping, "Mcp-Protocol-Version: 2025-06-18", 200, ""},
		{"POST", "/mcp", ping, "Mcp-Session-Id: abc", 404, "session_not_found"},
		{"POST", "/mcp", ping, "Host: evil.example.com", 403, "forbidden"},
		{"GET", "/mcp", "", "", 405, "method_not_allowed"},
		{"DELETE", "/mcp", "", "", 405, "method_not_allowed"},
		{"OPTIONS", "/mcp", "", "Origin: http://localhost:3000", 405, "method_not_allowed"},
		{"GET", "/", "", "", 404, "not_found"},
		{"POST", "/mcp/", ping, "", 404, "not_found"},
		{"POST", "//mcp", ping, "", 404, "not_found"},
		{"GET", "/.well-known/oauth-protected-resource", "", "", 404, "not_found"},
	} {
		name := c.method + " " + c.path + " " + c.header
		response, text := p.send(c.method, c.path, c.body, c.header)
		assert.Equal(t, c.status, response.StatusCode, name)
		assert.Equal(t, "application/json", response.Header.Get("Content-Type"), name)
		assert.Empty(t, response.Header.Get("Access-Control-Allow-Origin"), name)
		if c.code == "" {
			continue
		}
		var problem struct {
			OK    *bool
			Error struct{ Code, Message string }
		}
		require.NoError(t, json.Unmarshal([]byte(text), &problem), name)
		require.NotNil(t, problem.OK, name)
		assert.False(t, *problem.OK, name)
		assert.Equal(t, c.code, problem.Error.Code, name)
		assert.NotEmpty(t, problem.Error.Message, name)
		if c.status == 405 {
			assert.Equal(t, map[string]string{"/mcp": "POST", "/healthz": "GET, HEAD"}[c.path], response.Header.Get("Allow"), name)
		}
	}
}

func TestHealth(t *testing.T) {
	p := newPlace(t, nil)
	_, text := p.send("GET", "/healthz", "")
	var health struct {
		OK     bool
		Status string
		Server struct{ Name, Version string }
		Time   struct {
			StartedAt time.Time `json:"started_at"`
			UptimeMS  *int64    `json:"uptime_ms"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &health))
	assert.True(t, health.OK)
	assert.Equal(t, "ok", health.Status)
	assert.Equal(t, "@jeeves/mcp-pruner", health.Server.Name)
	assert.Equal(t, "1.2.3", health.Server.Version)
	assert.WithinDuration(t, time.Now(), health.Time.StartedAt, time.Minute)
	require.NotNil(t, health.Time.UptimeMS)
	assert.GreaterOrEqual(t, *health.Time.UptimeMS, int64(0))
}

func TestWhoMayCall(t *testing.T) {
	for _, c := range []struct {
		host, origin string
		ok           bool
	}{
		{"127.0.0.1:8005", "", true},
		{"127.0.0.1", "", true},
		{"localhost:8005", "", true},
		{"LOCALHOST", "", true},
		{"[::1]:8005", "", true},
		{"[::1]", "", true},
		{"127.9.9.9:1", "", true},
		{"", "", false},
		{"evil.example.com", "", false},
		{"evil.example.com:8005", "", false},
		{"localhost.evil.example.com", "", false},
		{"127.0.0.1.evil.example.com", "", false},
		{"0.0.0.0:8005", "", false},
		{"192.168.0.7:8005", "", false},
		{"localhost.:8005", "", false},
		{"localhost:8005", "http://localhost:3000", true},
		{"localhost:8005", "http://127.0.0.1:8005", true},
		{"localhost:8005", "http://[::1]:8005", true},
		{"localhost:8005", "https://evil.example.com", false},
		{"localhost:8005", "http://localhost.evil.example.com", false},
		{"localhost:8005", "http://localhost@evil.example.com", false},
		{"localhost:8005", "null", false},
		{"localhost:8005", "file://", false},
		{"localhost:8005", "%", false},
	} {
		r := httptest.NewRequest("POST", "/mcp", nil)
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		assert.Equal(t, c.ok, web.Foreign(r) == "", "Host %q, Origin %q: %s", c.host, c.origin, web.Foreign(r))
	}
}

// An allowed loopback origin does not permit a second, foreign one.
func TestEveryOriginCounts(t *testing.T) {
	r := httptest.NewRequest("POST", "/mcp", nil)
	r.Host = "localhost"
	r.Header["Origin"] = []string{"http://localhost", "http://evil.example.com"}
	assert.NotEmpty(t, web.Foreign(r))
}

func TestJSONRPCAnswersAre200(t *testing.T) {
	p := newPlace(t, nil)
	for body, code := range map[string]int{
		`{`:                                -32700,
		``:                                 -32700,
		`[]`:                               -32600,
		`{"jsonrpc":"1.0","id":1}`:         -32600,
		message("no/such", nil):            -32601,
		message("initialize", nil):         -32602,
		call("no_such", map[string]any{}):  -32602,
		call("read", map[string]any{}):     -32602,
		message("tools/list", []any{true}): -32602,
	} {
		assert.Equal(t, code, p.ask(body).Error.Code, body)
	}
	assert.True(t, p.logged("tool.request_parse_failed", ""), "what does not parse has a machine too")
}

func TestNotificationsAre202(t *testing.T) {
	p := newPlace(t, nil)
	for _, body := range []string{
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":7,"result":{}}`, // an unsolicited response
	} {
		response, text := p.post(body)
		assert.Equal(t, http.StatusAccepted, response.StatusCode)
		assert.Empty(t, text)
	}
}

func TestInvalidParamsHaveFieldErrors(t *testing.T) {
	p := newPlace(t, nil)
	e := p.ask(call("read", map[string]any{"file_path": "", "x": 1})).Error
	assert.Equal(t, []map[string]string{
		{"path": "arguments", "code": "unrecognized_keys", "message": "unrecognized_keys"},
		{"path": "arguments.file_path", "code": "too_small", "message": "too_small"},
	}, e.Data.Issues)
	assert.Equal(t, []map[string]string{
		{"field": "arguments", "message": "unrecognized_keys"},
		{"field": "arguments.file_path", "message": "too_small"},
	}, e.Data.FieldErrors)
	assert.Equal(t, "read", e.Data.Tool)
	assert.Equal(t, []map[string]string{{"field": "protocolVersion", "message": "invalid_type"}},
		p.ask(message("initialize", map[string]any{})).Error.Data.FieldErrors)
}

// The argument names of the design document work; combined with the new names they are an error.
func TestAliases(t *testing.T) {
	p := newPlace(t, nil)
	p.file("a.txt", "hello\n")
	assert.Equal(t, "hello\n", p.ask(call("read", map[string]any{"path": "a.txt"})).text())
	assert.Equal(t, "a.txt", p.ask(call("read", map[string]any{"path": "a.txt"})).Result.StructuredContent["file_path"])
	assert.Equal(t, "hi\n", p.ask(call("bash", map[string]any{"cmd": "echo hi"})).text())
	for tool, args := range map[string]map[string]any{
		"read": {"path": "a.txt", "file_path": "a.txt"},
		"bash": {"cmd": "true", "command": "true"},
	} {
		issues := p.ask(call(tool, args)).Error.Data.Issues
		require.NotEmpty(t, issues, tool)
		assert.Equal(t, "custom", issues[0]["code"])
	}
}

func TestABodyThatIsTooLarge(t *testing.T) {
	p := newPlace(t, nil)
	body := "no JSON" + strings.Repeat(" ", mcpserver.MaxMessageBytes-7)
	assert.Equal(t, -32700, p.ask(body).Error.Code, "32 MiB are read")
	response, text := p.post(body + " ")
	assert.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
	assert.Contains(t, text, `"code":"payload_too_large"`)
	chunked := p.request("POST", "/mcp", struct{ *strings.Reader }{strings.NewReader(body + " ")})
	response, err := http.DefaultClient.Do(chunked)
	require.NoError(t, err)
	defer response.Body.Close()
	assert.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
}

func TestAPanicShowsNothing(t *testing.T) {
	h := NewHandler(Config{})
	h.endpoints["/panic"] = endpoint{[]string{"GET"}, func(http.ResponseWriter, *http.Request) { panic("secret") }}
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/panic", nil)
	r.Host = "localhost"
	h.ServeHTTP(w, r)
	assert.Equal(t, http.StatusInternalServerError, w.Code)
	assert.JSONEq(t, `{"ok":false,"error":{"code":"internal_error","message":"Internal error"}}`, w.Body.String())
}
