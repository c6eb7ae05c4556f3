package gateway

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
)

// TestQuestionsOfOneTakeNoOthersPlace: where too many calls wait, one that has ended makes room, else one of who has most.
func TestQuestionsOfOneTakeNoOthersPlace(t *testing.T) {
	s := rounds{waiting: map[string]*round{}}
	asks := func(owner string) (*round, error) {
		session := mcpserver.NewSession("")
		session.Claim(owner)
		r := &round{caller: caller{Caller: callerIn(t, session, "{}")}, open: map[string]asked{}}
		r.life, r.cancel = context.WithCancel(t.Context())
		_, err := s.ask(r, asked{method: "roots/list"})
		return r, err
	}
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
}
