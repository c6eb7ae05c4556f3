package mcpserver

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// Large answers wait until those before them have been written; small ones wait for none.
func TestLargeAnswersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		room := newBudget(1 << 20)
		server := New(Config{MaxCalls: 16, Pipeline: &states.Pipeline{
			Machine: fsm.MustCompile(fsm.HTTPRequestTable()), Tools: []tools.Tool{{
				Name: "answer", InputSchema: json.RawMessage(`{"type":"object"}`), ReadOnly: true,
				Check: func(args map[string]any) (tools.Call, []tools.Issue) {
					size := args["size"].(int64)
					return answering(func(ctx context.Context) (any, error) { return "made", room.hold(ctx, size) }), nil
				},
			}},
		}})
		ask := func(ctx context.Context, size int64) (made chan Reply) {
			made = make(chan Reply, 1)
			go func() { made <- server.Call(ctx, "answer", map[string]any{"size": size}) }()
			synctest.Wait()
			return made
		}
		ctx, cancel := context.WithCancel(t.Context())
		first := ask(t.Context(), 700<<10)
		second, given, huge := ask(t.Context(), 700<<10), ask(ctx, 700<<10), ask(t.Context(), 1<<30)
		assert.Len(t, ask(t.Context(), freeAnswer), 1)
		assert.Len(t, first, 1)
		assert.Empty(t, second)
		cancel()
		_, err := (<-given).Begin(ctx)
		assert.NoError(t, err)
		(<-first).Written(t.Context())
		synctest.Wait()
		assert.Len(t, second, 1, "there is room now")
		assert.Empty(t, huge)
		(<-second).Failed(t.Context(), context.Canceled)
		(<-huge).Written(t.Context())
		assert.True(t, room.room.TryAcquire(1<<20), "all of it was given back")
	})
}
