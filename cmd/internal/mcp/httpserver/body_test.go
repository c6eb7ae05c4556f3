package httpserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// serving returns the line pruner's handler, for tests that inspect its state.
func serving(t *testing.T, tune func(*Handler)) (h *Handler, url string) {
	t.Helper()
	config, err := settings.LoadPruner(nil, settings.FromEnv(nil))
	require.NoError(t, err)
	parts, err := assemble.Make(t.Context(), assemble.Pruner, assemble.Options{Settings: config, Version: "1.2.3", Emit: func(fsm.Event) {}})
	require.NoError(t, err)
	t.Cleanup(parts.Close)
	h = NewHandler(Config{Server: parts.Server, Pruner: NewPruner(parts.Server, parts.Lines)})
	if tune != nil {
		tune(h)
	}
	web := httptest.NewServer(h)
	t.Cleanup(web.Close)
	return h, web.URL
}

// requireIdle checks that nothing of the budget is held when no request is served.
func requireIdle(t *testing.T, h *Handler, budget int64) {
	t.Helper()
	ended, end := context.WithCancel(t.Context())
	end()
	require.Eventually(t, func() bool {
		all, beyond := h.bodies.Hold(""), h.bodies.Hold("")
		defer all.Release()
		defer beyond.Release()
		return all.Grow(ended, budget) == nil && beyond.Grow(ended, budget) == nil
	}, 5*time.Second, time.Millisecond)
}

// begin sends the head of a request and a part of its body.
func begin(t *testing.T, url, path, length, body string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	_, err = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n\r\n%s", path, length, body)
	require.NoError(t, err)
	return c
}

const pinging = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// Bodies that are announced but never arrive take nothing from the others, and their clients get an error
// in the end.
func TestAnnouncedBodiesHoldNobodyUp(t *testing.T) {
	h, url := serving(t, func(h *Handler) { h.bodies = web.NewBudget(bodyBudget, 300*time.Millisecond, bodyWithin) })
	var stalled []net.Conn
	for range 8 {
		stalled = append(stalled,
			begin(t, url, "/rpc", "Content-Length: 33554432", strings.Repeat(" ", 200_000)),
			begin(t, url, "/prune", "Transfer-Encoding: chunked", "5\r\n{    \r\n"))
	}
	large := pinging + strings.Repeat(" ", 2<<20)
	for _, body := range []string{pinging, large} {
		resp, err := http.Post(url+"/rpc", "application/json", strings.NewReader(body))
		require.NoError(t, err)
		_ = resp.Body.Close()
		assert.Equal(t, 200, resp.StatusCode)
	}
	for i, c := range stalled {
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err)
		answer, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Equal(t, http.StatusRequestTimeout, resp.StatusCode)
		assert.True(t, resp.Close)
		if i%2 == 0 {
			assert.JSONEq(t, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}`, string(answer))
		} else {
			assert.JSONEq(t, `{"detail":[{"type":"timeout","loc":["body"],"msg":"Body was not sent in time"}]}`, string(answer))
		}
	}
	requireIdle(t, h, bodyBudget)
}

func TestCutBodyIsRefused(t *testing.T) {
	h, url := serving(t, nil)
	c := begin(t, url, "/rpc", "Content-Length: 100", pinging)
	require.NoError(t, c.(*net.TCPConn).CloseWrite())
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	require.NoError(t, err)
	assert.Equal(t, http.StatusBadRequest, resp.StatusCode)
	requireIdle(t, h, bodyBudget)
}

// Requests that together exceed the budget are finished one after the other, whatever each of them already
// holds.
func TestBodiesBeyondTheBudget(t *testing.T) {
	const budget = 256 << 10
	h, url := serving(t, func(h *Handler) { h.bodies = web.NewBudget(budget, stall, bodyWithin) })
	body := pinging + strings.Repeat(" ", 500_000)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			var from io.Reader = strings.NewReader(body)
			if i%2 == 0 {
				from = io.MultiReader(from) // of unknown size
			}
			resp, err := http.Post(url+"/rpc", "application/json", from)
			if assert.NoError(t, err) {
				_ = resp.Body.Close()
				assert.Equal(t, 200, resp.StatusCode)
			}
		})
	}
	all.Wait()
	requireIdle(t, h, budget)
}

// A connection stays usable after a body of any size.
func TestConnectionsAreKept(t *testing.T) {
	_, url := serving(t, nil)
	c := begin(t, url, "/rpc", "Content-Length: 300040", pinging+strings.Repeat(" ", 300_000))
	in := bufio.NewReader(c)
	for range 3 {
		resp, err := http.ReadResponse(in, nil)
		require.NoError(t, err)
		answer, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, string(answer))
		_, err = fmt.Fprintf(c, "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(pinging), pinging)
		require.NoError(t, err)
	}
}

// The bodies of one subject that stop delay nobody else's.
func TestStalledBodiesDelayOnlyTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHandler(Config{})
		send := func(subject string, body io.Reader) (status int) {
			r := httptest.NewRequestWithContext(agent.WithSubject(t.Context(), subject), "POST", "/mcp", body)
			h.receive(httptest.NewRecorder(), r, func([]byte) { status = 200 }, func(f *fault) { status = f.status })
			return status
		}
		stop := make(chan struct{})
		var all sync.WaitGroup
		for range 30 {
			body := io.MultiReader(strings.NewReader(strings.Repeat(" ", maxBodyBytes-1)), stalled(stop))
			all.Go(func() { send("bob", body) })
		}
		synctest.Wait()
		assert.Equal(t, 200, send("alice", strings.NewReader(strings.Repeat(" ", 300_000))))
		close(stop)
		all.Wait()
		requireIdle(t, h, bodyBudget)
	})
}

// stalled is the rest of a body that does not come.
type stalled chan struct{}

func (s stalled) Read([]byte) (int, error) { <-s; return 0, io.EOF }

// hurried records the deadline of each write.
type hurried struct {
	httptest.ResponseRecorder
	deadline time.Time
	lefts    []time.Duration
	sizes    []int
}

func (h *hurried) SetWriteDeadline(t time.Time) error { h.deadline = t; return nil }
func (h *hurried) Write(p []byte) (int, error) {
	h.lefts, h.sizes = append(h.lefts, time.Until(h.deadline)), append(h.sizes, len(p))
	return h.ResponseRecorder.Write(p)
}

// The time limit for a client that stops reading is that of one part, not that of the whole answer.
func TestEachPartOfAnAnswerHasToHurry(t *testing.T) {
	for within, most := range map[time.Duration]time.Duration{time.Hour: stall, stall / 2: stall / 2} {
		w := &hurried{ResponseRecorder: *httptest.NewRecorder()}
		answer := strings.Repeat("x", 10*pieceBytes+1)
		require.NoError(t, (&exchange{w: w, within: within}).answer([]byte(answer)))
		assert.Equal(t, answer, w.Body.String())
		assert.Len(t, w.sizes, 11)
		assert.LessOrEqual(t, slices.Max(w.sizes), pieceBytes)
		assert.LessOrEqual(t, slices.Max(w.lefts), most)
		assert.Positive(t, slices.Min(w.lefts))
		assert.True(t, w.deadline.IsZero(), "the next request has no deadline")
	}
}
