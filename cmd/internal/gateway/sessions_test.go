package gateway

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/tools/upstream/connect"
)

// TestAQuestionReachesNoOtherSession plays a server that asks for a password while two sessions call it. Neither is
// asked, and neither gets the log message. With one session calling, that one is asked.
func TestAQuestionReachesNoOtherSession(t *testing.T) {
	w := open(t, Options{Servers: []connect.Config{fakeServer("shop", "plain")}})
	w.ready(t, "shop")
	s := w.server("shop")
	call := func(ctx context.Context, id int, c *recorder) <-chan string {
		result := make(chan string, 1)
		go func() {
			answer, err := s.Call(ctx, "get_item", map[string]any{"id": id}, nil, nil, c)
			if err != nil {
				result <- err.Error()
				return
			}
			result <- answer.Text()
		}()
		return result
	}
	alice, bob := &recorder{}, &recorder{}
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
