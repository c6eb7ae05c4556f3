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
			out, err := io.ReadAll(iotest.HalfReader(newReadable(in, nil, byLine)))
			require.NoError(t, err)
			assert.Equal(t, text, string(out))
		}
	}
	out, err := io.ReadAll(newReadable(strings.NewReader(long+"\n"+`{"id":7,"error":{"code":"x","message":"m"}}`), nil, byLine))
	require.NoError(t, err)
	_, last, _ := strings.Cut(string(out), "\n")
	assert.JSONEq(t, `{"id":7,"error":{"code":-32603,"message":"m (code \"x\")"}}`, last)
}

// TestAMessageHasALimit: what has no end in its form is refused, and many short messages are not. A caller that waits for a stream
// of events is told.
func TestAMessageHasALimit(t *testing.T) {
	const most = 3 * maxErrorLine
	line, event := strings.Repeat("x", most/2)+"\n", "data: "+strings.Repeat("x", most/2)+"\n\n"
	for _, c := range []struct {
		form form
		id   string
		text string
		fits bool
	}{
		{byLine, "", strings.Repeat(line, 5), true},
		{byLine, "", line + strings.Repeat("x", most+1), false},
		{byLine, "", line + strings.Repeat("x", most+1) + "\n", false},
		{byEvent, "5", strings.Repeat(event, 5), true},
		{byEvent, "5", event + strings.Repeat("data: x\n", most/8+1), false},
		{byEvent, "5", event + "data: " + strings.Repeat("x", most), false},
		{byEvent, "", event + "data: " + strings.Repeat("x", most), false},
		{byBody, "5", strings.Repeat("x\n\n", most/3), true},
		{byBody, "5", strings.Repeat("x\n\n", most/3+1), false},
	} {
		var id json.RawMessage
		if c.id != "" {
			id = json.RawMessage(c.id)
		}
		r, said := newReadable(strings.NewReader(c.text), id, c.form), false
		r.most, r.lost = most, func(error) { said = true }
		out, err := io.ReadAll(r)
		if c.fits {
			require.NoError(t, err)
			assert.Equal(t, c.text, string(out))
			continue
		}
		assert.True(t, said)
		require.ErrorIs(t, err, errTooLong)
		assert.Less(t, len(out), len(c.text)+300)
		answer := `"id":5,"error":{"code":-32603,"message":"it sent a message of more than 128 MiB"}}` + "\n\n"
		assert.Equal(t, c.form == byEvent && c.id != "", strings.HasSuffix(string(out), answer))
	}
}

// TestANestedMessageIsAnswered: one that the transport cannot decode is answered with an error, and the messages after it are read.
func TestANestedMessageIsAnswered(t *testing.T) {
	deep := func(before, after string) string {
		return before + strings.Repeat(`{"a":[`, 100_000) + "1" + strings.Repeat(`]}`, 100_000) + after
	}
	const ok, brackets = `{"jsonrpc":"2.0","id":8,"result":{}}` + "\n", `{"id":9,"result":"`
	text := brackets + strings.Repeat(`\"[{`, 100_000) + "\"}\n"
	answer := func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32603,"message":"it sent a message that is nested more than 10000 deep"}}`
	}
	many := func(begin string) string { return begin + "[" + strings.Repeat("{},", maxTold) + "{}]}\n" }
	for _, c := range []struct {
		form      form
		id        string
		in        string
		end, lost bool
		last      string
	}{
		{byLine, "", deep(`{"jsonrpc":"2.0","id":7,"result":`, "}\n"+ok), false, false, "\n" + answer("7") + "\n" + ok},
		{byLine, "", deep(`{"id": "x\"y", "result":`, "}\n"+ok), false, false, "\n" + answer(`"x\"y"`) + "\n" + ok},
		{byLine, "", deep(`{"id":7,"result":`, "}"), false, false, "\n" + answer("7") + "\n"},
		{byLine, "", deep(`{"id":7,"method":"x","params":`, "}\n"+ok), false, false, "\n\n" + ok},
		{byLine, "", many(`{"method":"x","params":`) + ok, false, false, "\n\n" + ok},
		{byLine, "", many(`{"id":7,"result":`) + ok, false, false, many(`{"id":7,"result":`) + ok},
		{byLine, "", deep(`{"result":`, `,"id":7}`+"\n"+ok), true, true, ""},
		{byLine, "", ok + text + ok, false, false, text + ok},
		{byEvent, "5", "data: {}\n\n" + deep(`data: {"id":5,"result":`, "}\n\n"), true, true, "\n\ndata: " + answer("5") + "\n\n"},
		{byBody, "5", deep(`{"id":5,"result":`, "}"), true, true, ""},
	} {
		var id json.RawMessage
		if c.id != "" {
			id = json.RawMessage(c.id)
		}
		r, lost := newReadable(strings.NewReader(c.in), id, c.form), false
		r.lost = func(error) { lost = true }
		out, err := io.ReadAll(r)
		if c.end {
			require.ErrorIs(t, err, errTooDeep)
		} else {
			require.NoError(t, err)
		}
		assert.Equal(t, c.lost, lost)
		assert.True(t, strings.HasSuffix(string(out), c.last), c.in[:20])
	}
}
