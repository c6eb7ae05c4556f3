package gateway

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAQuestionReachesNoOtherSession plays a server that asks for a password while two sessions call it. Neither is
// asked, and neither gets the log message. With one session calling, that one is asked.
func TestAQuestionReachesNoOtherSession(t *testing.T) {
	w := open(t, Options{Servers: []ServerConfig{fakeServer("shop", "plain")}})
	w.ready(t, "shop")
	s := w.server("shop")
	call := func(ctx context.Context, id int, c *caller) <-chan string {
		result := make(chan string, 1)
		go func() {
			answer, err := s.call(ctx, "get_item", map[string]any{"id": id}, nil, c)
			if err != nil {
				result <- err.Error()
				return
			}
			result <- string(answer.Result)
		}()
		return result
	}
	alice, bob := &caller{}, &caller{}
	waiting := call(t.Context(), 16, alice)
	w.waitFor(t, "holding")
	assert.Contains(t, <-call(t.Context(), 17, bob), "it is not known which one is meant")
	assert.Contains(t, <-waiting, "it is not known which one is meant")
	assert.Empty(t, alice.asked+bob.asked)
	assert.Empty(t, append(alice.told, bob.told...))

	waiting = call(t.Context(), 16, alice)
	w.waitFor(t, "holding")
	assert.Contains(t, <-call(t.Context(), 17, alice), "assistant", "two calls of one session")
	<-waiting
	assert.Contains(t, alice.asked, "Your password?")
	assert.Len(t, alice.told, 1)

	ctx, cancel := context.WithCancel(t.Context())
	waiting = call(ctx, 16, alice)
	w.waitFor(t, "holding")
	cancel()
	<-waiting
	assert.Contains(t, <-call(t.Context(), 17, bob), "it is not known which one is meant", "the server may still be at work for the other session")
	assert.Empty(t, bob.asked)
}

// TestAQuestionInAnAnswerBelongsToItsCall checks a transport that says during which call the upstream asks.
func TestAQuestionInAnAnswerBelongsToItsCall(t *testing.T) {
	alice, bob := &caller{}, &caller{}
	c := &connection{calls: map[string]*pendingCall{}}
	of, _ := c.begin(alice)
	_, end := c.begin(bob)
	question := transport.JSONRPCRequest{Method: "elicitation/create", Params: json.RawMessage(`{}`)}
	answer, err := c.asked(context.WithValue(t.Context(), pendingKey{}, of), question)
	require.NoError(t, err)
	assert.Nil(t, answer.Error)
	assert.NotEmpty(t, alice.asked)
	assert.Empty(t, bob.asked)

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	end(gone)
	caller, calling := c.only()
	assert.True(t, calling)
	assert.Nil(t, caller)
	c.last[1].cancelled = time.Now().Add(-2 * cancelledFor)
	caller, _ = c.only()
	assert.Same(t, alice, caller)
}
