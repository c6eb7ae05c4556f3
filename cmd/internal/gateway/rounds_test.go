package gateway

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// TestQuestionsOfOneTakeNoOthersPlace: where too many calls wait, one that has ended makes room, else one of who has most.
func TestQuestionsOfOneTakeNoOthersPlace(t *testing.T) {
	s := rounds{waiting: map[string]*round{}}
	asksWith := func(owner, text string) (*round, error) {
		session := mcpserver.NewSession("")
		session.Claim(owner)
		r := &round{open: map[string]asked{}}
		server := mcpserver.New(mcpserver.Config{MaxCalls: 16, Features: &mcpserver.Features{
			Answer: func(_ context.Context, c *mcpserver.Caller, _ string, _ json.RawMessage) (json.RawMessage, *tools.RPCError) {
				r.Caller = c
				r.now.Store(c)
				return json.RawMessage("{}"), nil
			},
		}})
		server.Answer(t.Context(), session, mcpserver.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"`+text+`"}}`)))
		r.life, r.cancel = context.WithCancel(t.Context())
		_, err := s.ask(r, asked{method: "roots/list"})
		return r, err
	}
	asks := func(owner string) (*round, error) { return asksWith(owner, "") }
	var first *round
	for range maxRounds {
		r, err := asks("ada")
		require.NoError(t, err)
		first = r
	}
	_, err := asks("ada")
	assert.ErrorContains(t, err, "too many calls wait", "she takes all there are, and no more")

	first.cancel() // its call has ended
	_, err = asks("ada")
	require.NoError(t, err)
	bobs, err := asks("bob")
	require.NoError(t, err, "one of hers makes room")
	_, err = asks("ada")
	assert.ErrorContains(t, err, "too many calls wait")
	_, err = asks("cid")
	require.NoError(t, err)
	assert.NoError(t, bobs.life.Err())
	assert.Len(t, s.waiting, maxRounds)

	clear(s.waiting)
	long := strings.Repeat("a", 8<<20) // counts for 33
	for range maxRounds / 33 {
		_, err = asksWith("ada", long)
		require.NoError(t, err)
	}
	_, err = asksWith("ada", long)
	assert.ErrorContains(t, err, "too many calls wait")
	_, err = asksWith("bob", long)
	require.NoError(t, err)
	assert.Len(t, s.waiting, maxRounds/33)
}
