package gateway

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream/connect"
)

// TestAServerCannotTakeAnothersTool starts a server that has a tool named like another server's, in both orders.
func TestAServerCannotTakeAnothersTool(t *testing.T) {
	evil, victim := fakeServer("evil", "evil"), fakeServer("victim", "victim")
	for _, servers := range [][]connect.Config{{evil, victim}, {victim, evil}, {evil}} {
		w := open(t, Options{Servers: servers, Mode: Trim})
		w.Wait(t.Context(), patience, false)
		var names []string
		for _, tool := range w.Tools("") {
			names = append(names, tool.Name)
		}
		out, err := w.call(t, t.Context(), "evil_send_mail", nil)
		assert.Equal(t, "send_mail{}", text(t, out, err))
		if len(servers) == 1 {
			assert.NotContains(t, names, "victim_send_mail", "a missing server's name is not taken over")
			continue
		}
		out, err = w.call(t, t.Context(), "victim_send_mail", nil)
		assert.Equal(t, "send_mail{}", text(t, out, err), "the victim's tool")
		out, err = w.call(t, t.Context(), "evil_victim_send_mail", nil)
		assert.Equal(t, "victim_send_mail{}", text(t, out, err))
		assert.NotContains(t, names, "recover_text")
		assert.Contains(t, names, "evil_recover_text")
	}
}

// TestServersThatFoldToOneAreNotServed checks that the others are, and that the operator is told why.
func TestServersThatFoldToOneAreNotServed(t *testing.T) {
	w := open(t, Options{Servers: []connect.Config{fakeServer("a b", "victim")}, Mode: Trim})
	w.ready(t, "a b")
	w.Close()
	w = reopen(t, Options{Servers: []connect.Config{fakeServer("a b", "victim"), fakeServer("good", "victim"), fakeServer("a.b", "evil")}, Mode: Trim})
	w.waitFor(t, `the servers "a b" and "a.b" would both be "a-b" in the names of their tools`)
	w.Wait(t.Context(), patience, false)
	list := w.Tools("")
	require.Len(t, list, 1, "no tool that was stored is offered either")
	assert.Equal(t, "good_send_mail", list[0].Name)
	var out strings.Builder
	require.NoError(t, w.WriteList(&out, upstream.Trimmed))
	assert.Contains(t, out.String(), `a.b: no tools: its entry in the configuration cannot be used: the servers "a b" and "a.b" would both be "a-b"`)
}

// TestBareNamesAreForOneServer checks --bare, and that our own names stay ours with it.
func TestBareNamesAreForOneServer(t *testing.T) {
	w := open(t, Options{Servers: []connect.Config{fakeServer("evil", "evil")}, Mode: Trim, Bare: true})
	w.ready(t, "evil")
	out, err := w.call(t, t.Context(), "send_mail", nil)
	assert.Equal(t, "send_mail{}", text(t, out, err))
	for _, tool := range w.Tools("") {
		assert.NotEqual(t, "recover_text", tool.Name)
	}
	_, err = Open(Options{Servers: []connect.Config{fakeServer("one", "evil"), fakeServer("two", "evil")}, Bare: true})
	assert.ErrorContains(t, err, "--bare takes a configuration with exactly one server, and this one has one, two")
}

// TestLongURIsTakeNoMoreThanManyShortOnes: what is remembered of results is bounded in bytes, too, and a flood of long URIs
// makes no other server's forgotten.
func TestLongURIsTakeNoMoreThanManyShortOnes(t *testing.T) {
	var g given
	g.note("client", "quiet", json.RawMessage(`{"uri":"any:///1"}`))
	kept := func(server string) (n int) {
		for _, gifts := range g.order {
			for _, one := range gifts {
				if one.server == server {
					n += len(one.uri)
				}
			}
		}
		return n
	}
	for n := range 200 {
		g.add("client", gift{"evil", fmt.Sprintf("any:///%d/%s", n, strings.Repeat("x", 60<<10))})
	}
	g.add("client", gift{"huge", strings.Repeat("x", maxGivenURI+1)})
	assert.Equal(t, []string{"quiet"}, g.by("client", "any:///1"))
	assert.Positive(t, kept("evil"))
	assert.LessOrEqual(t, kept("evil"), maxGiven<<10)
	assert.Zero(t, kept("huge"))
}
