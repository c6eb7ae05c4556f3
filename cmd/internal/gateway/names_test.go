package gateway

import (
	"testing"

	"github.com/stretchr/testify/assert"

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
	_, err := Open(Options{Servers: []connect.Config{fakeServer("My Shop", "victim"), fakeServer("my_shop", "evil")}})
	assert.ErrorContains(t, err, `the servers "My Shop" and "my_shop" would both be "my-shop" in the names of their tools`)
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
