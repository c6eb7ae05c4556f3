package connect

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools"
)

// odd are errors that the transport cannot decode, and the code and text that arrive.
var odd = map[string]tools.RPCError{
	`{"code":"E_STOCK","message":"out of stock","data":{"left":0}}`: {Code: -32603, Message: `out of stock (code "E_STOCK")`, Data: json.RawMessage(`{"left":0}`)},
	`{"code":1.5,"message":"half"}`:                                 {Code: -32603, Message: "half (code 1.5)"},
	`{"code":"-32050","message":"a text"}`:                          {Code: -32050, Message: "a text"},
	`{"code":-32050.0,"message":"a fraction"}`:                      {Code: -32050, Message: "a fraction"},
	`{"code":1e30,"message":"large"}`:                               {Code: -32603, Message: "large (code 1e30)"},
	`{"code":null,"message":{"why":"so"}}`:                          {Code: -32603, Message: `{"why":"so"} (code null)`},
	`{"message":{"why":"so"}}`:                                      {Code: -32603, Message: `{"why":"so"}`},
	`["what"]`:                                                      {Code: -32603, Message: `["what"]`},
	`{"code":-32001,"message":"as it should be"}`:                   {Code: -32001, Message: "as it should be"},
}

// TestOddErrorsOverHTTPAreAnswered runs servers whose errors are odd, in both forms of answers over HTTP, with and without an id.
func TestOddErrorsOverHTTPAreAnswered(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	for _, form := range []string{"application/json", "text/event-stream"} {
		for _, idless := range []bool{false, true} {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var m struct {
					ID     json.RawMessage
					Method string
					Params struct{ Name string }
				}
				_ = json.NewDecoder(r.Body).Decode(&m)
				body := fmt.Sprintf(`"id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{},"tools":[]}}`, m.ID)
				switch {
				case r.Method != http.MethodPost:
					w.WriteHeader(http.StatusMethodNotAllowed)
					return
				case m.ID == nil:
					w.WriteHeader(http.StatusAccepted)
					return
				case m.Method == "tools/call" && idless:
					body = `"error":` + m.Params.Name + `}`
				case m.Method == "tools/call":
					body = fmt.Sprintf(`"id":%s,"error":%s}`, m.ID, m.Params.Name)
				}
				w.Header().Set("Content-Type", form)
				body = `{"jsonrpc":"2.0",` + body
				if form == "text/event-stream" {
					body = "event: message\ndata: " + body + "\n\n"
				}
				_, _ = io.WriteString(w, body)
			}))
			s := New(Config{Name: "odd", URL: server.URL}, Options{Note: func(string, map[string]any) {}, Changed: func(_, _ Offer) {}})
			for given, want := range odd {
				_, err := s.Call(t.Context(), given, nil, nil, nil, nil)
				var failed *tools.Error
				require.ErrorAs(t, err, &failed, given)
				require.NotNil(t, failed.Opaque, "%s: %v", given, err)
				assert.Equal(t, want, *failed.Opaque.RPC, "%s, %s, without an id: %v", given, form, idless)
			}
			s.Close()
			server.Close()
		}
	}
}

// TestErrorsOverHTTPKeepTheirText runs a server that answers calls with an error without an id, in several lines, and with every
// status. Only what may refuse the session is tried once more: the others may have done something.
func TestErrorsOverHTTPKeepTheirText(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Name string }
		}
		_ = json.NewDecoder(r.Body).Decode(&m)
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		switch {
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		case m.Method == "tools/call":
			calls++
			status, _ := strconv.Atoi(m.Params.Name)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "{\n \"jsonrpc\": \"2.0\",\n \"error\": {\n  \"code\": -32050,\n  \"message\": \"the quota is used up\"\n }\n}\n")
		default:
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{},"tools":[]}}`, m.ID)
		}
	}))
	defer server.Close()
	s := New(Config{Name: "odd", URL: server.URL}, Options{Note: func(string, map[string]any) {}, Changed: func(_, _ Offer) {}})
	defer s.Close()
	for status, want := range map[string]int{"200": 1, "400": 2, "403": 1, "404": 2, "429": 1, "500": 1, "503": 1} {
		calls = 0
		_, err := s.Call(t.Context(), status, nil, nil, nil, nil)
		var failed *tools.Error
		require.ErrorAs(t, err, &failed, status)
		require.NotNil(t, failed.Opaque, "%s: %v", status, err)
		assert.Equal(t, tools.RPCError{Code: -32050, Message: "the quota is used up"}, *failed.Opaque.RPC, status)
		assert.Equal(t, want, calls, status)
	}
}

// TestReadableChangesNothingElse passes on messages in pieces of every size.
func TestReadableChangesNothingElse(t *testing.T) {
	long := strings.Repeat(`an "error" in a long text `, 10_000)
	for _, text := range []string{
		"", "no line", "\n\n", `{"jsonrpc":"2.0","id":1,"result":{"error":{"code":"x"}}}` + "\n", long + "\n" + long, "not \"error\" JSON\n",
		`{"method":"x","id":1,"error":{"code":"x"}}` + "\n", ": comment\ndata: {}\n\n",
	} {
		for _, in := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text)), iotest.DataErrReader(strings.NewReader(text))} {
			out, err := io.ReadAll(iotest.HalfReader(newReadable(in, nil)))
			require.NoError(t, err)
			assert.Equal(t, text, string(out))
		}
	}
	out, err := io.ReadAll(newReadable(strings.NewReader(long+"\n"+`{"id":7,"error":{"code":"x","message":"m"}}`), nil))
	require.NoError(t, err)
	_, last, _ := strings.Cut(string(out), "\n")
	assert.JSONEq(t, `{"id":7,"error":{"code":-32603,"message":"m (code \"x\")"}}`, last)
}
