package connect

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools"
)

// client is a client that records the latest question.
type client struct {
	Caller
	asked string
}

func (c *client) Session() any { return c }
func (c *client) Capabilities() json.RawMessage {
	return json.RawMessage(`{"roots":{},"elicitation":{}}`)
}
func (c *client) Ask(_ context.Context, method string, params json.RawMessage) (json.RawMessage, *tools.RPCError, error) {
	c.asked = method + " " + string(params)
	return json.RawMessage(`{}`), nil, nil
}

// TestQuestionsWithoutParams: a client may refuse "params": null, and then its
// connection is of no use.
func TestQuestionsWithoutParams(t *testing.T) {
	user := &client{}
	c := &connection{owner: user, questions: map[string]*question{}, gone: make(chan struct{})}
	_, err := c.asked(t.Context(), transport.JSONRPCRequest{Method: "roots/list"})
	require.NoError(t, err)
	assert.Equal(t, "roots/list ", user.asked)
}

// TestAQuestionInAnAnswerBelongsToItsCall checks a transport that says during which call the upstream asks.
func TestAQuestionInAnAnswerBelongsToItsCall(t *testing.T) {
	alice, bob := &client{}, &client{}
	c := &connection{calls: map[string]*pendingCall{}, questions: map[string]*question{}, gone: make(chan struct{})}
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
