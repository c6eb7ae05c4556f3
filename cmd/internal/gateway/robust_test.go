package gateway

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream/connect"
)

// ready waits for a single server.
func (w *world) ready(t *testing.T, name string) {
	t.Helper()
	require.NoError(t, w.server(name).Connect(t.Context()))
}

// validList checks a list against the limits of clients and model APIs.
func validList(t *testing.T, list []tools.Tool) {
	t.Helper()
	seen := map[string]bool{}
	for _, tool := range list {
		assert.Regexp(t, regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`), tool.Name)
		assert.False(t, seen[tool.Name], tool.Name)
		seen[tool.Name] = true
		var schema map[string]any
		require.NoError(t, json.Unmarshal(tool.InputSchema, &schema), tool.Name)
		assert.Equal(t, "object", schema["type"], tool.Name)
		for _, key := range []string{"oneOf", "anyOf", "allOf"} {
			assert.NotContains(t, schema, key, tool.Name)
		}
		properties, _ := schema["properties"].(map[string]any)
		for name, p := range properties {
			assert.NotEmpty(t, p.(map[string]any)["type"], "%s.%s", tool.Name, name)
		}
	}
}

func text(t *testing.T, out tools.Output, err error) string {
	t.Helper()
	require.NoError(t, err)
	return out.Text()
}

// TestOneServersTroubleIsItsOwn checks that a server that fails from the start does not affect the list and
// calls of another.
func TestOneServersTroubleIsItsOwn(t *testing.T) {
	for _, kind := range []string{"deaf", "rude", "empty", "odd", "many"} {
		t.Run(kind, func(t *testing.T) {
			w := open(t, Options{Servers: []connect.Config{fakeServer("trouble", kind), fakeServer("shop", "plain")}})
			w.ready(t, "shop")
			list := w.Tools("")
			validList(t, list)
			out, err := w.call(t, t.Context(), "shop_item", item("get", 1))
			assert.Equal(t, `get_item{"id":1}`, text(t, out, err))
		})
	}
}

// TestAServerOfTheNewestProtocolAloneIsRefusedWithWords checks what is said of one.
func TestAServerOfTheNewestProtocolAloneIsRefusedWithWords(t *testing.T) {
	w := open(t, Options{Servers: []connect.Config{fakeServer("new", "modern")}})
	w.Wait(t.Context(), patience, false)
	assert.Equal(t, []string{"new: no tools: it does not speak protocol 2025-11-25 or an earlier one, which the gateway needs (initialize was refused: Unsupported protocol version)"}, w.Troubles())
}

func TestAServerThatEndsAtOnceIsNamed(t *testing.T) {
	w := open(t, Options{Servers: []connect.Config{fakeServer("trouble", "rude")}})
	w.Wait(t.Context(), patience, false)
	var out strings.Builder
	require.NoError(t, w.WriteList(&out, upstream.Grouped))
	assert.Equal(t, "trouble: no tools: it ended with exit code 7\n", out.String())
}

// TestOddToolsAreListedAndCalled checks that with any schema the list is valid and each tool is called
// under its own name.
func TestOddToolsAreListedAndCalled(t *testing.T) {
	for _, mode := range []string{Group, Trim} {
		w := open(t, Options{Servers: []connect.Config{fakeServer("odd", "odd")}, Mode: mode})
		w.ready(t, "odd")
		validList(t, w.Tools(""))
		called := map[string]bool{}
		for _, e := range w.list(w.ModeFor("")) {
			for _, a := range e.Actions {
				args := map[string]any{}
				if a.Name != "" {
					args["action"] = a.Name
				}
				out, err := w.call(t, t.Context(), e.Name, args)
				if a.Def.Name == "either" {
					args["id"] = "x"
					out, err = w.call(t, t.Context(), e.Name, args)
				}
				name, _, _ := strings.Cut(text(t, out, err), "{")
				assert.Equal(t, a.Def.Name, name)
				called[name] = true
			}
		}
		assert.Len(t, called, 11)
	}
}

func TestSevenHundredTools(t *testing.T) {
	w := open(t, Options{Servers: []connect.Config{fakeServer("many", "many")}})
	w.ready(t, "many")
	list := w.Tools("")
	assert.LessOrEqual(t, len(list), 12+1, "and find")
	validList(t, list)
	tools := 0
	for _, e := range w.list(w.ModeFor("")) {
		tools += len(e.Actions)
	}
	assert.Equal(t, 700, tools)
}

func TestToolsOfOneNameReachTheirServers(t *testing.T) {
	w := open(t, Options{Servers: []connect.Config{fakeServer("shop", "plain"), fakeServer("store", "plain")}, Mode: Trim})
	w.Wait(t.Context(), patience, false)
	list := w.Tools("")
	require.Len(t, list, 6)
	validList(t, list)
	_, err := w.call(t, t.Context(), "shop_get_item", item("", 4)) // the server ends
	require.ErrorContains(t, err, "the MCP server shop did not answer")
	out, err := w.call(t, t.Context(), "store_get_item", map[string]any{"id": 1})
	assert.Equal(t, `get_item{"id":1}`, text(t, out, err))
}

func TestAServerThatEndedBetweenTwoCallsIsStartedBeforeTheSecond(t *testing.T) {
	w := open(t, Options{Servers: []connect.Config{fakeServer("shop", "plain")}})
	w.ready(t, "shop")
	_, err := w.call(t, t.Context(), "shop_item", item("get", 10))
	require.NoError(t, err)
	w.waitFor(t, "gateway.upstream_lost")
	_, err = w.call(t, t.Context(), "shop_item", item("get", 2))
	require.EqualError(t, err, "upstream_error: no such item\n[the MCP server shop was started anew since your last call: what it kept in memory is lost]")
	out, err := w.call(t, t.Context(), "shop_item", item("get", 1))
	assert.Equal(t, `get_item{"id":1}`, text(t, out, err), "it is said once")
}

func TestAFloodIsPassedOver(t *testing.T) {
	w := open(t, Options{Servers: []connect.Config{fakeServer("shop", "plain")}})
	w.ready(t, "shop")
	out, err := w.call(t, t.Context(), "shop_item", item("get", 11))
	assert.Equal(t, "after all", text(t, out, err))
}

// TestAServerThatDoesNotReadHoldsUpNobody checks that calls to a server that does not read its input can be
// cancelled, and that the server is ended.
func TestAServerThatDoesNotReadHoldsUpNobody(t *testing.T) {
	w := open(t, Options{Servers: []connect.Config{fakeServer("shop", "plain"), fakeServer("other", "plain")}})
	w.Wait(t.Context(), patience, false)
	first, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	call := func(id any) {
		_, err := w.server("shop").Call(first, "get_item", map[string]any{"id": id}, nil, nil, nil)
		ended <- err
	}
	go call(12)
	w.waitFor(t, "stderr shop asleep")
	go call(strings.Repeat("x", 1<<20)) // more than fits into a pipe
	out, err := w.call(t, t.Context(), "other_item", item("get", 1))
	assert.Equal(t, `get_item{"id":1}`, text(t, out, err))
	cancel()
	assert.ErrorIs(t, <-ended, context.Canceled)
	assert.ErrorIs(t, <-ended, context.Canceled)
}

// TestSecretsStayHidden checks that the values of a server's environment appear in no note, no line of
// standard error and no error of the gateway. The server's own answer reaches the client unchanged.
func TestSecretsStayHidden(t *testing.T) {
	w := open(t, Options{Servers: []connect.Config{fakeServer("shop", "plain")}})
	w.ready(t, "shop")
	_, err := w.call(t, t.Context(), "shop_item", item("get", 13))
	var failed *tools.Error
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, "bad token [hidden]", failed.Message)
	assert.Contains(t, string(failed.Opaque.Content[0]), "hunter2hunter2")
	w.waitFor(t, "stderr shop the token is [hidden]")
}

func TestAServersInstructionsReachTheClient(t *testing.T) {
	w := open(t, Options{Servers: []connect.Config{fakeServer("shop", "plain")}, Mode: Auto})
	w.ready(t, "shop")
	assert.Equal(t, aboutTrim+"\n\nThe server shop says:\n> Ask for items.", w.Instructions("claude-code"))
	assert.Contains(t, w.Instructions("some-client"), `action="help"`)
}
