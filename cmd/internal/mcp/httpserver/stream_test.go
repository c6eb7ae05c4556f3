package httpserver

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest"
)

// recorder is a connection that keeps the bytes written to it, or fails.
type recorder struct {
	bytes.Buffer
	header    http.Header
	status    int
	fail      error
	failAfter int      // number of writes; 0: never
	events    []string // of the log
}

func (r *recorder) Header() http.Header { return r.header }
func (r *recorder) WriteHeader(s int)   { r.status = s }
func (r *recorder) Flush()              {}

func (r *recorder) Write(p []byte) (int, error) {
	if r.fail != nil {
		return 0, r.fail
	}
	if r.failAfter > 0 {
		if r.failAfter--; r.failAfter == 0 {
			r.fail = errors.New("broken pipe")
		}
	}
	return r.Buffer.Write(p)
}

// sleepOver calls nap. The recorder keeps what is written and logged.
func sleepOver(t *testing.T, seconds int, token any, accept string, w *recorder) {
	t.Helper()
	h := NewHandler(Config{Server: mcpserver.New(mcpserver.Config{Result: "full", MaxCalls: 16, Pipeline: &states.Pipeline{
		Machine: fsm.MustCompile(fsm.HTTPRequestTable()), Tools: []tools.Tool{tooltest.Nap()},
		Emit: func(e fsm.Event) { w.events = append(w.events, e.Name) },
	}})})
	params := map[string]any{"name": "nap", "arguments": map[string]any{"seconds": seconds}}
	if token != nil {
		params["_meta"] = map[string]any{"progressToken": token}
	}
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/mcp", strings.NewReader(message("tools/call", params)))
	r.Host = "localhost"
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", accept)
	w.header = make(http.Header)
	h.ServeHTTP(w, r)
}

const both = "application/json, text/event-stream"

// A client that asked for progress and accepts a stream is notified during a long call; the answer is the
// last event. Every other answer is plain JSON.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w recorder
		sleepOver(t, 12, "tok", both, &w)
		assert.Equal(t, "text/event-stream", w.header.Get("Content-Type"))
		events := strings.Split(strings.TrimSuffix(w.String(), "\n\n"), "\n\n")
		require.Len(t, events, 3)
		for i, e := range events {
			assert.True(t, strings.HasPrefix(e, "event: message\ndata: {"), e)
			assert.Equal(t, i < 2, strings.Contains(e, `"progressToken":"tok"`), e)
		}
		assert.Contains(t, events[2], `"text":"slept <well> & long"`)
	})
}

func TestPlainJSON(t *testing.T) {
	for name, c := range map[string]struct {
		seconds int
		token   any
		accept  string
	}{
		"the call is short":         {4, "tok", both},
		"nobody asked for progress": {12, nil, both},
		"the client takes JSON":     {12, "tok", "application/json"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var w recorder
				sleepOver(t, c.seconds, c.token, c.accept, &w)
				assert.Equal(t, "application/json", w.header.Get("Content-Type"))
				assert.Contains(t, w.String(), `"text":"slept <well> & long"`)
				assert.Contains(t, w.events, "tool.respond_ok")
			})
		})
	}
}

// An answer or stream that cannot be written ends the connection, and the machine records the failure.
func TestAnAnswerThatCannotBeWritten(t *testing.T) {
	for _, token := range []any{nil, "tok"} {
		synctest.Test(t, func(t *testing.T) {
			w := recorder{fail: errors.New("broken pipe")}
			assert.PanicsWithValue(t, http.ErrAbortHandler, func() { sleepOver(t, 12, token, both, &w) })
			assert.Equal(t, "tool.respond_failed", w.events[len(w.events)-1])
		})
	}
}

// deaf is a client that reads nothing until it is told to.
type deaf struct {
	hurried
	hear chan struct{}
}

func (d *deaf) Write(p []byte) (int, error) { <-d.hear; return d.hurried.Write(p) }

// Large answers that wait to be read have a limit for each subject: what is beyond it is dropped, and its client hears why.
func TestAnswersThatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		large := tooltest.Tool("large", nil)
		large.Check = func(map[string]any) (tools.Call, []tools.Issue) {
			return tooltest.Func(func(context.Context) (tools.Output, error) { return tooltest.Output(strings.Repeat("x", 128<<10)), nil }), nil
		}
		h := NewHandler(Config{Server: mcpserver.New(mcpserver.Config{Result: "text", MaxCalls: 64, Pipeline: &states.Pipeline{
			Machine: fsm.MustCompile(fsm.HTTPRequestTable()), Tools: []tools.Tool{large}, Emit: func(fsm.Event) {},
		}})})
		h.answers = web.NewBudget(1<<20, 0, 0) // three and one are bob's
		call := message("tools/call", map[string]any{"name": "large", "arguments": map[string]any{}})
		send := func(subject string, hear chan struct{}) string {
			w := &deaf{hurried{ResponseRecorder: *httptest.NewRecorder()}, hear}
			r := httptest.NewRequestWithContext(agent.WithSubject(t.Context(), subject), "POST", "/mcp", nil)
			h.message(w, r, mcpserver.Parse([]byte(call)))
			return w.Body.String()
		}
		never, now := make(chan struct{}), make(chan struct{})
		close(now)
		answers := make(chan string, 20)
		for range cap(answers) {
			go func() { answers <- send("bob", never) }()
		}
		time.Sleep(time.Minute)
		assert.Empty(t, answers)
		assert.Contains(t, send("alice", now), "xxx")
		close(never)
		dropped := 0
		for range cap(answers) {
			if strings.Contains(<-answers, "was dropped: other large answers have not been read yet") {
				dropped++
			}
		}
		assert.Equal(t, 16, dropped)
		assert.Contains(t, send("bob", now), "xxx", "there is room again")
	})
}
