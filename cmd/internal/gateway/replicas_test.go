package gateway_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
)

// replicas starts two gateways with one database in front of a server over HTTP, which tells of each change of a client's roots.
func replicas(t *testing.T) (here, there string, shop *server.MCPServer, roots <-chan string) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("MCP_PRUNER_STORE", storetest.Start(t).Database(t))
	heard := make(chan string, 10)
	shop = server.NewMCPServer("shop", "1", server.WithToolCapabilities(true))
	shop.AddTool(mcp.NewTool("get"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("got"), nil
	})
	shop.AddNotificationHandler("notifications/roots/list_changed", func(_ context.Context, n mcp.JSONRPCNotification) { heard <- n.Method })
	upstream := httptest.NewServer(server.NewStreamableHTTPServer(shop))
	t.Cleanup(func() {
		upstream.CloseClientConnections()
		upstream.Close()
	})
	config := serversFile(t, map[string]any{"shop": map[string]any{"url": upstream.URL + "/mcp"}})
	here, _ = overHTTPWith(t, config)
	there, _ = overHTTPWith(t, config)
	return here, there, shop, heard
}

// TestEveryReplicaTellsItsClientsOfAChangedList: a server tells each replica, which has a connection of its own to it, and each
// replica tells its clients.
func TestEveryReplicaTellsItsClientsOfAChangedList(t *testing.T) {
	here, there, shop, _ := replicas(t)
	clients := map[*httpClient]<-chan string{}
	for _, address := range []string{here, there} {
		c := session(t, address, "some-client")
		clients[&c] = c.listen()
		c.sees(clients[&c], "shop_get")
	}
	shop.AddTool(mcp.NewTool("put"), nil)
	for c, lines := range clients {
		hearsOfTools(lines)
		c.sees(lines, "shop_put")
	}
}

// sees returns when a tool is listed: at once, or when the client was told that the list has changed.
func (c httpClient) sees(lines <-chan string, tool string) {
	for {
		if answer, _ := c.over("some-client", "").ask("tools/list", "{}"); strings.Contains(answer, `"`+tool+`"`) {
			return
		}
		hearsOfTools(lines)
	}
}

func hearsOfTools(lines <-chan string) {
	for line := range lines {
		if strings.Contains(line, "notifications/tools/list_changed") {
			return
		}
	}
}

// TestChangedRootsFindTheirReplica: that a client's roots have changed reaches the replica with its connections to servers, if
// another one is told.
func TestChangedRootsFindTheirReplica(t *testing.T) {
	here, there, _, roots := replicas(t)
	c := sessionWith(t, here, "some-client", `{"roots":{"listChanged":true}}`)
	c.sees(c.listen(), "shop_get")
	require.Contains(t, c.over("some-client", "").call("shop_get", "{}"), "got")
	for _, address := range []string{there, here} {
		c.address = address
		answer := c.post(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
		assert.Equal(t, http.StatusAccepted, answer.StatusCode)
		_ = answer.Body.Close()
		assert.Equal(t, "notifications/roots/list_changed", <-roots, address)
	}
	assert.Empty(t, roots, "each change is told once")
	c.address = there
	assert.Equal(t, http.StatusNoContent, c.end())
	c.address = here
	assert.Equal(t, http.StatusNotFound, c.end(), "the session has ended at both")
}

// TestAnAnswerFindsItsReplica: an answer to a server's question reaches the replica that asked, if another one is told. One that nobody
// waits for is refused, and not acknowledged and lost.
func TestAnAnswerFindsItsReplica(t *testing.T) {
	t.Setenv("MCP_PRUNER_STORE", storetest.Start(t).Database(t))
	here, _ := overHTTP(t)
	there, _ := overHTTPWith(t, serversFile(t, map[string]any{"shop": fakeEntry("plain")}))
	c := session(t, here, "some-client")
	c.answers = there
	assert.Contains(t, <-c.call(17), `\"password\":\"hunter2\"`)
	c.address = there
	late := c.post(`{"jsonrpc":"2.0","id":"srv-1","result":{"action":"accept"}}`)
	assert.Equal(t, http.StatusBadRequest, late.StatusCode)
	_ = late.Body.Close()
}
