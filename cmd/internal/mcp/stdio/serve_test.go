package stdio

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest"
)

// gate is a tool whose calls wait until it is opened.
type gate chan struct{}

func (g gate) tool() tools.Tool {
	return tooltest.Tool("gate", func(context.Context) (tools.Output, error) {
		<-g
		return tooltest.Output("open"), nil
	})
}

// Whatever number of calls wait, the next line is read; when they are done, no more
// than a few goroutines are kept for the calls to come, and at the end none is.
func TestCallsDelayNobodyAndLeaveFewGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 50
		wait := make(gate)
		s := mcpserver.New(mcpserver.Config{Version: "0", Result: "text", MaxCalls: 2 * calls, Pipeline: &states.Pipeline{
			Machine: fsm.MustCompile(fsm.RequestTable()), Tools: []tools.Tool{wait.tool()},
		}})
		in, feed := io.Pipe()
		answers, out := io.Pipe()
		lines := bufio.NewScanner(answers)
		before := runtime.NumGoroutine()
		ended := make(chan bool)
		go func() { ended <- Serve(t.Context(), s, in, out) }()

		for i := range calls {
			fmt.Fprintf(feed, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"gate","arguments":{}}}`+"\n", i)
		}
		fmt.Fprintln(feed, `{"jsonrpc":"2.0","id":"p","method":"ping"}`)
		require.True(t, lines.Scan())
		assert.Contains(t, lines.Text(), `"id":"p"`)

		close(wait)
		for range calls {
			require.True(t, lines.Scan())
		}
		synctest.Wait()
		assert.Less(t, runtime.NumGoroutine()-before, calls/2, "Serve, its leader, the followers, and what is just ending")

		require.NoError(t, feed.Close())
		assert.True(t, <-ended)
	}) // which fails when a goroutine is left
}

// A client that sends calls and reads no answer does not make answers pile up: a call
// keeps its slot until its answer is written.
func TestAnswersThatNobodyReadsAreBounded(t *testing.T) {
	const most, calls = 16, 500
	var ran atomic.Int32
	counted := tooltest.Tool("gate", func(context.Context) (tools.Output, error) {
		ran.Add(1)
		return tooltest.Output("open"), nil
	})
	s := mcpserver.New(mcpserver.Config{Version: "0", Result: "text", MaxCalls: most, Pipeline: &states.Pipeline{
		Machine: fsm.MustCompile(fsm.RequestTable()), Tools: []tools.Tool{counted},
	}})
	in, feed := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan bool)
	go func() { ended <- Serve(t.Context(), s, in, out) }()
	for i := range calls { // every line is read, although no answer is
		fmt.Fprintf(feed, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"gate","arguments":{}}}`+"\n", i)
	}
	lines := bufio.NewScanner(answers)
	for read := range calls {
		require.LessOrEqual(t, int(ran.Load()), read+most)
		require.True(t, lines.Scan())
	}
	require.NoError(t, feed.Close())
	assert.True(t, <-ended)
}

// A client that goes while its first request waits for something else, such as the server that a gateway wraps, is not waited for.
func TestAClientGoesBeforeItIsGreeted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mcpserver.New(mcpserver.Config{Version: "0", Result: "text", MaxCalls: 16, Pipeline: &states.Pipeline{Machine: fsm.MustCompile(fsm.RequestTable())},
			Features: &mcpserver.Features{Greet: func(ctx context.Context, _ *mcpserver.Caller) {
				select {
				case <-ctx.Done():
				case <-time.After(time.Minute):
				}
			}, Offered: func() mcpserver.Offered { return mcpserver.Offered{} }}})
		in, feed := io.Pipe()
		began, ended := time.Now(), make(chan bool)
		go func() { ended <- Serve(t.Context(), s, in, io.Discard) }()
		fmt.Fprintln(feed, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
		require.NoError(t, feed.Close())
		<-ended
		assert.Equal(t, finishWithin, time.Since(began))
	})
}

// An end in which a call would not end is none that was graceful.
func TestAnEndThatACallOutlastsIsNotGraceful(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := make(gate)
		s := mcpserver.New(mcpserver.Config{Version: "0", Result: "text", MaxCalls: 16, Pipeline: &states.Pipeline{
			Machine: fsm.MustCompile(fsm.RequestTable()), Tools: []tools.Tool{wait.tool()},
		}})
		in, feed := io.Pipe()
		ended := make(chan bool)
		go func() { ended <- Serve(t.Context(), s, in, io.Discard) }()
		fmt.Fprintln(feed, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"gate","arguments":{}}}`)
		require.NoError(t, feed.Close())
		assert.False(t, <-ended, "after finishWithin and endWithin")
		close(wait)
		synctest.Wait()
	})
}
