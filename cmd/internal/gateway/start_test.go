package gateway

import (
	"context"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/upstream/connect"
)

// startedAt is the environment variable with the address to which a server of kind "held"
// connects when it starts. It answers nothing before that connection is closed.
const startedAt = "GATEWAY_TEST_HOLD"

func init() {
	atStart["held"] = func() {
		conn, err := net.Dial("tcp", os.Getenv(startedAt))
		if err != nil {
			panic(err)
		}
		_, _ = io.Copy(io.Discard, conn)
	}
}

// hold returns servers that start but answer only when they are told to, and a channel with
// one connection for each that has started. Closing it lets the server go on.
func hold(t *testing.T, names ...string) (servers []connect.Config, started <-chan net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	conns := make(chan net.Conn, 10)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conns <- conn
		}
	}()
	for _, name := range names {
		s := fakeServer(name, "held")
		s.Env[startedAt] = listener.Addr().String()
		servers = append(servers, s)
	}
	return servers, conns
}

// within fails the test if done is not closed in time.
func within(t *testing.T, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		require.Fail(t, what)
	}
}

func waiting(w *world, cached bool) (done chan struct{}) {
	done = make(chan struct{})
	go func() {
		defer close(done)
		w.Wait(context.Background(), time.Hour, cached)
	}()
	return done
}

// TestAStartTakesAsLongAsTheSlowestServer checks that servers start at the same time: each of
// two answers only after the other has started. The list is complete when both have answered.
func TestAStartTakesAsLongAsTheSlowestServer(t *testing.T) {
	servers, started := hold(t, "shop", "store")
	w := open(t, Options{Servers: servers})
	done := waiting(w, true)
	first, second := <-started, <-started
	select {
	case <-done:
		require.Fail(t, "it did not wait for a server whose tools nobody knows")
	default:
	}
	require.NoError(t, first.Close())
	require.NoError(t, second.Close())
	within(t, done, "it waits although both have answered")
	assert.Len(t, w.Tools(""), 2)
}

// TestAKeptListWaitsForNobody checks that with lists from the last start the gateway waits for
// no server, and that a list is refreshed when its server has answered.
func TestAKeptListWaitsForNobody(t *testing.T) {
	servers, started := hold(t, "shop")
	w := open(t, Options{Servers: servers})
	go func() { _ = (<-started).Close() }()
	w.Wait(t.Context(), patience, false)
	require.Len(t, w.Tools(""), 1)
	w.Close()

	servers[0].Env["GATEWAY_TEST_MORE"] = "one more tool"
	again := reopen(t, Options{Servers: servers})
	within(t, waiting(again, true), "it waits for a server whose tools are known")
	before := again.Tools("")
	require.Len(t, before, 1)
	assert.NotContains(t, string(before[0].InputSchema), "rename")

	require.NoError(t, (<-started).Close())
	select {
	case <-again.changes:
	case <-time.After(patience):
		require.Fail(t, "the list was not refreshed")
	}
	assert.Contains(t, string(again.Tools("")[0].InputSchema), "rename")
}

// TestACallWaitsForItsServer checks that a tool which nobody has listed yet is waited for, and that a server without one is named.
func TestACallWaitsForItsServer(t *testing.T) {
	servers, started := hold(t, "shop")
	w := open(t, Options{Servers: append(servers, fakeServer("trouble", "rude"))})
	done := make(chan struct{})
	go func() {
		defer close(done)
		assert.Empty(t, w.await(t.Context(), "shop_item"))
	}()
	conn := <-started
	assert.Empty(t, w.await(t.Context(), "nobody_item"), "it waits for no server")
	assert.Contains(t, w.await(t.Context(), "trouble_item"), "the MCP server trouble, which would have the tool trouble_item, cannot be asked: it ended with exit code 7")
	require.NoError(t, conn.Close())
	within(t, done, "it waits although the server has answered")
	require.Len(t, w.Tools(""), 1)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Empty(t, w.await(ended, "trouble_item"), "a call that was cancelled has no answer")
}
