package mcpserver

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest"
)

func newTestServer(c Config) *Server {
	c.Version, c.MaxCalls = "0.0.0", 16
	c.Pipeline = &states.Pipeline{Machine: fsm.MustCompile(fsm.RequestTable()), Tools: []tools.Tool{tooltest.Nap()}}
	return New(c)
}

func answer(t *testing.T, s *Server, session *Session, line string) string {
	t.Helper()
	reply := s.Answer(t.Context(), session, Parse([]byte(line)))
	body, err := reply.Begin(t.Context())
	require.NoError(t, err)
	reply.Written(t.Context())
	return string(body)
}

const napCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nap","arguments":{}}}`

func introduction(client string) string {
	return `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":"` + client + `","version":"1"}}}`
}

// A client closes the connection if the answer names a version that it does not know. It knows none after its own.
func TestTheVersionIsNeverNewerThanAsked(t *testing.T) {
	for asked, want := range map[string]string{
		"2024-10-07": "2024-11-05", "2024-11-05": "2024-11-05", "2025-03-26": "2024-11-05", "2025-06-18": "2025-06-18",
		"2025-11-25": "2025-11-25", "2026-01-01": "2025-11-25", "2026-07-28": "2025-11-25", "2027-01-01": "2025-11-25", "draft": "2025-11-25",
	} {
		line := strings.Replace(introduction("x"), "2025-06-18", asked, 1)
		assert.Contains(t, answer(t, newTestServer(Config{}), new(Session), line), `"protocolVersion":"`+want+`"`, asked)
	}
}

// Clients that show their model only structuredContent get none. In every shape, the text is in the field
// that the client shows, and the metadata is in _meta.
func TestResultShapes(t *testing.T) {
	cases := []struct {
		shape, client string
		structured    bool
	}{
		{"auto", "claude-code", false},
		{"auto", "codex-mcp-client", false},
		{"auto", "Claude-Code", true},
		{"auto", "claude-code-2", true},
		{"auto", "inspector", true},
		{"full", "claude-code", true},
		{"text", "inspector", false},
	}
	for _, c := range cases {
		s := newTestServer(Config{Result: c.shape})
		var session Session
		answer(t, s, &session, introduction(c.client))
		body := answer(t, s, &session, napCall)
		assert.Equal(t, c.structured, strings.Contains(body, "structuredContent"), "%+v", c)
		assert.Contains(t, body, `"content":[{"type":"text","text":"slept <well> & long"}]`, "nothing is escaped for HTML")
		assert.Contains(t, body, `"_meta":{"jeeves/pruning":{"attempted":false,`)
	}
}

// A request of the newest protocol names its client itself, and its result must say that it is complete.
func TestRequestsWithoutAHandshake(t *testing.T) {
	s := newTestServer(Config{Result: "auto"})
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"claude-code","version":"3"},"io.modelcontextprotocol/clientCapabilities":{}}`
	var session Session
	body := answer(t, s, &session, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nap","arguments":{},`+meta+`}}`)
	assert.NotContains(t, body, "structuredContent")
	assert.Contains(t, body, `"resultType":"complete"`)
	assert.Contains(t, body, `"io.modelcontextprotocol/serverInfo":{"name":"@jeeves/mcp-pruner"`)
	body = answer(t, s, &session, `{"jsonrpc":"2.0","id":2,"method":"server/discover","params":{`+meta+`}}`)
	assert.Contains(t, body, `"supportedVersions":["2026-07-28"`)
}

func TestToolListIsTheSameEveryTime(t *testing.T) {
	line := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	var session Session
	first := answer(t, newTestServer(Config{AlwaysLoad: true}), &session, line)
	for range 20 {
		require.Equal(t, first, answer(t, newTestServer(Config{AlwaysLoad: true}), &session, line))
	}
	assert.Contains(t, first, `"annotations":{"readOnlyHint":true}`)
	assert.Contains(t, first, `"anthropic/alwaysLoad":true`)
	assert.Contains(t, first, `"anthropic/maxResultSizeChars":500000`)
	assert.NotContains(t, first, "outputSchema")
	assert.NotContains(t, answer(t, newTestServer(Config{}), &session, line), "alwaysLoad")
}

// A long call reports progress every five seconds, never after its answer, and only to a client that gave a
// token.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTestServer(Config{Result: "full"})
		var sent []string
		session := Session{Notify: func(line []byte) { sent = append(sent, string(line)) }}
		line := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nap","arguments":{"seconds":12},"_meta":{"progressToken":"p<1>"}}}`
		answer(t, s, &session, line)
		assert.Equal(t, []string{
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":5,"progressToken":"p\u003c1\u003e"}}` + "\n",
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":10,"progressToken":"p\u003c1\u003e"}}` + "\n",
		}, sent)
		time.Sleep(time.Minute)
		assert.Len(t, sent, 2)
		answer(t, s, &session, strings.Replace(line, `"progressToken":"p<1>"`, "", 1))
		assert.Len(t, sent, 2)
	})
}

// However many calls one client sends, calls of other clients get a slot.
func TestOneSessionLeavesRoomForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTestServer(Config{Result: "full", MaxEach: 4}) // of 16
		greedy, other := NewSession("greedy"), NewSession("other")
		long := strings.Replace(napCall, `"arguments":{}`, `"arguments":{"seconds":10}`, 1)
		began := time.Now()
		for range 40 {
			go answer(t, s, greedy, long)
		}
		synctest.Wait()
		answer(t, s, other, napCall)
		assert.Zero(t, time.Since(began), "the other client did not wait")
		time.Sleep(101 * time.Second) // ten rounds of four
		answer(t, s, greedy, napCall)
		assert.Equal(t, 101*time.Second, time.Since(began))
	})
}

// Of two concurrent calls with the same id, a cancellation applies to the later one.
func TestTheSameIDTwice(t *testing.T) {
	var session Session
	m := Parse([]byte(napCall))
	first, endFirst := session.Start(t.Context(), m)
	second, endSecond := session.Start(t.Context(), m)
	cancelled := Parse([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
	session.notified(cancelled)
	assert.NoError(t, first.Err())
	assert.Error(t, second.Err())
	endSecond()
	endFirst()
	assert.Empty(t, session.flying)
	session.notified(cancelled) // for a call that has ended; some clients send this after every answer
}

// A cancellation finds its call however the id is spelled in JSON.
func TestCancelMatchesIDs(t *testing.T) {
	cases := []struct {
		call, cancel string
		want         bool
	}{
		{`1`, `1`, true}, {`"a"`, `"\u0061"`, true}, {`1`, `"1"`, false},
		{`9007199254740993`, `9007199254740992`, false}, {`0`, `0`, true},
	}
	for _, c := range cases {
		var session Session
		ctx, end := session.Start(t.Context(), Message{ID: json.RawMessage(c.call)})
		session.notified(Parse([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + c.cancel + `}}`)))
		assert.Equal(t, c.want, ctx.Err() != nil, "%+v", c)
		end()
	}
}

// FuzzAnswer feeds arbitrary lines to the server. The output must be empty or a single line of JSON with
// the same id, and every machine must have reached a final state.
func FuzzAnswer(f *testing.F) {
	for _, line := range []string{
		napCall, introduction("x"), `{"jsonrpc":"2.0","id":"\u2028","method":"ping"}`, `[]`, `{}`, `nul`, "{\"id\":1e999}",
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":null}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nap","arguments":{},"_meta":{"progressToken":[]}}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"_meta":1}}`,
	} {
		f.Add([]byte(line))
	}
	s := newTestServer(Config{Result: "auto"})
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.Contains(line, []byte("seconds")) {
			t.Skip("a nap would take as long as it says")
		}
		var session Session
		m := Parse(line)
		reply := s.Answer(t.Context(), &session, m)
		body, err := reply.Begin(t.Context())
		require.NoError(t, err)
		reply.Written(t.Context())
		if call := reply.Call(); call != nil {
			require.True(t, call.Machine().Done(), call.Machine().State())
		}
		if body == nil {
			return
		}
		require.Equal(t, 1, bytes.Count(body, []byte("\n")))
		var response struct {
			JSONRPC string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
		}
		require.NoError(t, json.Unmarshal(body, &response))
		if m.ID != nil {
			require.Equal(t, string(m.ID), string(response.ID))
		}
	})
}
