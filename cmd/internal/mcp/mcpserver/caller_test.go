package mcpserver

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest"
)

// asking returns a tool that calls run with a context from which CallerOf returns the caller.
func asking(run func(ctx context.Context) error) tools.Tool {
	tool := tooltest.Tool("ask", func(ctx context.Context) (tools.Output, error) { return tooltest.Slept, run(ctx) })
	tool.Listed = map[string]json.RawMessage{"title": json.RawMessage(`"Asks"`)}
	return tool
}

func serverOf(list func(client string) []tools.Tool) *Server {
	return New(Config{
		List: list, MaxCalls: 16, Version: "0.0.0",
		Pipeline: &states.Pipeline{Machine: fsm.MustCompile(fsm.RequestTable())},
	})
}

const askCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{},"_meta":{"progressToken":"t","x":12345678901234567890}}}`

// A tool can send notifications and requests to its caller.
func TestAToolTalksToItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent []string
		session := &Session{Notify: func(line []byte) { sent = append(sent, strings.TrimSpace(string(line))) }}
		s := serverOf(func(string) []tools.Tool {
			return []tools.Tool{asking(func(ctx context.Context) error {
				c := CallerOf(ctx)
				assert.Equal(t, "ask-test", c.Client())
				assert.Equal(t, "t", c.ProgressToken())
				assert.Equal(t, map[string]any{"progressToken": "t", "x": json.Number("12345678901234567890")}, c.Meta())
				assert.JSONEq(t, `{"sampling":{}}`, string(c.Capabilities()))
				c.Notify("notifications/message", map[string]any{"data": "<hi>"})
				result, problem, err := c.Ask(ctx, "sampling/createMessage", json.RawMessage(`{"n":1}`))
				assert.NoError(t, err)
				assert.Nil(t, problem)
				assert.JSONEq(t, `{"role":"user"}`, string(result))
				_, problem, err = c.Ask(ctx, "roots/list", nil)
				assert.NoError(t, err)
				assert.Equal(t, &tools.RPCError{Code: -1, Message: "no"}, problem)
				return nil
			})}
		})
		answer(t, s, session, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"sampling":{}},"clientInfo":{"name":"ask-test"}}}`)
		done := make(chan string, 1)
		go func() { done <- answer(t, s, session, askCall) }()
		synctest.Wait()
		require.Len(t, sent, 2)
		assert.JSONEq(t, `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"<hi>"}}`, sent[0])
		assert.JSONEq(t, `{"jsonrpc":"2.0","id":"srv-1","method":"sampling/createMessage","params":{"n":1}}`, sent[1])
		answer(t, s, session, `{"jsonrpc":"2.0","id":"srv-1","result":{"role":"user"}}`)
		synctest.Wait()
		require.Len(t, sent, 3)
		assert.JSONEq(t, `{"jsonrpc":"2.0","id":"srv-2","method":"roots/list"}`, sent[2])
		answer(t, s, session, `{"jsonrpc":"2.0","id":"srv-2","error":{"code":-1,"message":"no"}}`)
		assert.Contains(t, <-done, "slept")
	})
}

func TestSomeClientsCannotBeAsked(t *testing.T) {
	s := serverOf(func(string) []tools.Tool {
		return []tools.Tool{asking(func(ctx context.Context) error {
			_, _, err := CallerOf(ctx).Ask(ctx, "roots/list", nil)
			assert.ErrorIs(t, err, ErrNoWay)
			CallerOf(ctx).Notify("notifications/message", nil)
			return nil
		})}
	})
	assert.Contains(t, answer(t, s, Alone(), askCall), "slept")
	assert.Contains(t, answer(t, s, new(Session), askCall), "slept")
}

// Each client has its own list.
func TestTheListIsTheClients(t *testing.T) {
	noop := asking(func(context.Context) error { return nil })
	offered := map[string][]tools.Tool{"one": {noop}}
	s := serverOf(func(client string) []tools.Tool { return offered[client] })
	one, two := NewSession("one"), NewSession("two")
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	assert.Contains(t, answer(t, s, one, introduction("one")), `"listChanged":true`)
	assert.Contains(t, answer(t, s, one, list), `"title":"Asks"`)
	assert.Contains(t, answer(t, s, one, askCall), "slept")
	answer(t, s, two, introduction("two"))
	assert.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`+"\n", answer(t, s, two, list))
	assert.Contains(t, answer(t, s, two, askCall), "invalid_enum_value")
}

// MCP makes arguments optional, and some clients write null for none. What a tool of ours or another server's makes of that, it says.
func TestACallWithoutArguments(t *testing.T) {
	noop := asking(func(context.Context) error { return nil })
	upstream := serverOf(func(string) []tools.Tool { return []tools.Tool{noop} })
	for _, arguments := range []string{``, `,"arguments":null`, `,"arguments":{}`} {
		line := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"` + arguments + `}}`
		assert.Contains(t, answer(t, upstream, new(Session), line), "slept", arguments)
		line = strings.ReplaceAll(line, `"ask"`, `"nap"`)
		assert.Contains(t, answer(t, newTestServer(Config{}), new(Session), line), "slept", arguments)
		line = strings.ReplaceAll(line, `null`, `[]`)
		assert.Equal(t, strings.Contains(arguments, "null"), strings.Contains(answer(t, newTestServer(Config{}), new(Session), line), "invalid_type"))
	}
}
