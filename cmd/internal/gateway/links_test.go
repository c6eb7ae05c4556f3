package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream/connect"
)

// callerIn returns a client of a session, whose capabilities are those of its initialize.
func callerIn(t *testing.T, session *mcpserver.Session, capabilities string) (c *mcpserver.Caller) {
	t.Helper()
	s := mcpserver.New(mcpserver.Config{
		List: func(string) []tools.Tool { return nil },
		Features: &mcpserver.Features{
			Greet:   func(_ context.Context, from *mcpserver.Caller) { c = from },
			Offered: func() mcpserver.Offered { return mcpserver.Offered{} },
		},
	})
	s.Answer(t.Context(), session, mcpserver.Parse([]byte(
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"clientInfo":{"name":"c","version":"1"}}}`)))
	require.NotNil(t, c)
	return c
}

// overMany is a gateway for many clients with servers that are not started.
func overMany(t *testing.T, o Options) *world {
	t.Helper()
	for i := range 40 {
		o.Servers = append(o.Servers, connect.Config{Name: fmt.Sprintf("s%d", i), Problem: "not in this test"})
	}
	return open(t, o)
}

// TestConnectionsHaveLimits opens connections until a subject, and then the gateway, has as many as it may have.
func TestConnectionsHaveLimits(t *testing.T) {
	w := overMany(t, Options{})
	reach := func(c *mcpserver.Caller, server int) *tools.Error {
		_, _, refusal := w.reach(c, fmt.Sprintf("s%d", server))
		return refusal
	}
	one := callerIn(t, mcpserver.NewSession(""), "{}")
	for i := range maxLinksEach {
		require.Nil(t, reach(one, i))
	}
	assert.Contains(t, reach(one, 39).Message, "this client has 32 connections to MCP servers already, the most that it may have, and all are in use")
	assert.Nil(t, reach(one, 0), "a connection that is there serves on")

	keyed := func() *mcpserver.Caller {
		session := mcpserver.NewSession("")
		session.Claim("ada")
		return callerIn(t, session, "{}")
	}
	first, second := keyed(), keyed()
	for i := range 20 {
		require.Nil(t, reach(first, i))
	}
	for i := range 12 {
		require.Nil(t, reach(second, i))
	}
	assert.NotNil(t, reach(second, 30), "both sessions are Ada's")

	for len(w.links.open) < maxLinks {
		require.Nil(t, reach(callerIn(t, mcpserver.NewSession(""), "{}"), 0))
	}
	assert.Contains(t, reach(callerIn(t, mcpserver.NewSession(""), "{}"), 0).Message, "the gateway has 256 connections to MCP servers already")
}

// TestTheLongestIdleConnectionMakesRoom checks that a client gets a further connection in the place of its own that was idle for
// longest, or of anybody's where the gateway has as many as it may have; and that who lost one is told at its next call.
func TestTheLongestIdleConnectionMakesRoom(t *testing.T) {
	o := Options{Servers: []connect.Config{fakeServer("one", "plain"), fakeServer("two", "plain"), fakeServer("three", "plain")}, Limits: connect.Limits{Max: 3, Each: 2}}
	w := open(t, o)
	ada, bob := callerIn(t, mcpserver.NewSession(""), "{}"), callerIn(t, mcpserver.NewSession(""), "{}")
	call := func(c *mcpserver.Caller, server string) string {
		s, done, refusal := w.reach(c, server)
		require.Nil(t, refusal)
		defer done()
		answer, err := s.Call(t.Context(), "get_item", map[string]any{"id": 1}, nil, nil, nil)
		require.NoError(t, err)
		return answer.Text()
	}
	const plain, anew = `get_item{"id":1}`, "was started anew since your last call: what it kept in memory is lost]"
	assert.Equal(t, plain, call(ada, "one"))
	assert.Equal(t, plain, call(ada, "two"))
	assert.Equal(t, plain, call(bob, "one"))
	assert.Equal(t, plain, call(ada, "three"), "in the place of Ada's first")
	assert.Equal(t, plain, call(bob, "two"), "in the place of Ada's second")
	assert.Equal(t, plain+"\n[the MCP server one "+anew, call(ada, "one"))
	assert.Equal(t, plain, call(ada, "one"), "it is said once")
	assert.Len(t, w.links.open, 3)

	w.ended(ada)
	assert.Empty(t, w.links.of(ada.Session()))
	assert.Equal(t, plain, call(ada, "two"), "nothing is remembered of a session that has ended")
}

// TestWhoSharesAConnection checks which callers get the same connection.
func TestWhoSharesAConnection(t *testing.T) {
	w := overMany(t, Options{Servers: []connect.Config{{Name: "stateless", Stateless: true, Problem: "not in this test"}}})
	at := func(session *mcpserver.Session, server string) *connect.Server {
		s, _, refusal := w.reach(callerIn(t, session, "{}"), server)
		require.Nil(t, refusal)
		return s
	}
	alone := func(owner string, conn any) *mcpserver.Session {
		session := mcpserver.AloneOn(conn, conn)
		if owner != "" {
			session.Claim(owner)
		}
		return session
	}
	session := mcpserver.NewSession("")
	assert.Same(t, at(session, "s1"), at(session, "s1"), "one session")
	assert.NotSame(t, at(session, "s1"), at(session, "s2"), "two servers")
	assert.NotSame(t, at(session, "s1"), at(mcpserver.NewSession(""), "s1"), "two sessions")
	assert.Same(t, at(alone("ada", 1), "s1"), at(alone("ada", 2), "s1"), "one subject without sessions")
	assert.NotSame(t, at(alone("ada", 1), "s1"), at(alone("bob", 1), "s1"), "two subjects")
	assert.Same(t, at(alone("", 1), "s1"), at(alone("", 1), "s1"), "one address without keys")
	assert.NotSame(t, at(alone("", 1), "s1"), at(alone("", 2), "s1"), "two addresses")
	assert.Same(t, at(session, "stateless"), at(alone("ada", 1), "stateless"), "a server that is stateless")
}

// TestAnIdleConnectionIsClosed checks that a connection without requests is closed, and one with a request is not.
func TestAnIdleConnectionIsClosed(t *testing.T) {
	w := overMany(t, Options{Limits: connect.Limits{Idle: time.Nanosecond}})
	c := callerIn(t, mcpserver.NewSession(""), "{}")
	first, done, _ := w.reach(c, "s1")
	_, again, _ := w.reach(c, "s1")
	done()
	same, third, _ := w.reach(c, "s1")
	assert.Same(t, first, same, "a request is in progress")
	again()
	third()
	assert.Eventually(t, func() bool {
		w.links.mu.Lock()
		defer w.links.mu.Unlock()
		return len(w.links.open) == 0
	}, patience, time.Millisecond)
	other, done, _ := w.reach(c, "s1")
	done()
	assert.NotSame(t, first, other)
}

// TestWhatAClientDidNotDeclareIsNotUsed runs a server that asks and logs in front of clients with several capabilities.
func TestWhatAClientDidNotDeclareIsNotUsed(t *testing.T) {
	for capabilities, want := range map[string]string{
		`{"sampling":{}}`:             `{"role":"assistant"}`,
		`{}`:                          "",
		`{"elicitation":{"url":{}}}`:  "",
		`{"roots":{},"tasks":"what"}`: "",
	} {
		w := open(t, Options{Servers: []connect.Config{fakeServer("shop", "plain")}, OneClient: true})
		c := &recorder{capabilities: json.RawMessage(capabilities)}
		w.server("shop").Belong(c)
		answer, err := w.server("shop").Call(t.Context(), "get_item", map[string]any{"id": 6}, nil, nil, c)
		require.NoError(t, err)
		assert.Equal(t, want, answer.Text(), capabilities)
		assert.Equal(t, want != "", c.asked != "", capabilities)
	}
}

// TestTheCatalogIsOnlyRead asks at once, as clients over HTTP do, for a resource that two servers have: the error names both, and
// what the catalog has stays as it is.
func TestTheCatalogIsOnlyRead(t *testing.T) {
	w := overMany(t, Options{})
	w.mu.Lock()
	w.offered = &catalog{own: map[string][]string{"note:///1": {"s1", "s2"}}}
	w.mu.Unlock()
	const want = "several servers have that resource; ask for one of s1+note:///1, s2+note:///1"
	var all sync.WaitGroup
	for range 8 {
		c := callerIn(t, mcpserver.NewSession(""), "{}")
		all.Go(func() {
			for range 10 {
				_, _, refusal := request{w.Gateway, c, "resources/read", nil}.resolve("note:///1")
				if assert.NotNil(t, refusal) {
					assert.Equal(t, want, refusal.Message)
				}
			}
		})
	}
	all.Wait()
	assert.Equal(t, []string{"s1", "s2"}, w.catalog().own["note:///1"])
}
