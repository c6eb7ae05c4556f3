package recovery_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// refusesTakenID: an id is never given to a second text of its subject, and the first one stays.
func refusesTakenID(t *testing.T, open opener) {
	s := open.store(t, recovery.Settings{})
	id := recovery.ShortID()
	require.NoError(t, s.PutAs(t.Context(), id, "first"))
	require.ErrorIs(t, s.PutAs(t.Context(), id, "second"), recovery.ErrTaken)
	requireText(t, s, id, "first")
	assert.Equal(t, 1, stats(t, s).Texts)
	require.NoError(t, s.PutAs(agent.WithSubject(t.Context(), "bob"), id, "bob's"))
	put(t, s, "after the refusal")
}

// putsBeside: an id that is given out at once is there when stored has returned, and a failure is told twice.
func putsBeside(t *testing.T, open opener) {
	s := open.store(t, recovery.Settings{MaxBytes: 100})
	id, stored := s.PutBeside(t.Context(), "a text", func() { t.Error("it was stored") })
	require.NoError(t, stored())
	requireText(t, s, id, "a text")
	failed := false
	_, stored = s.PutBeside(t.Context(), strings.Repeat("x", 101), func() { failed = true })
	require.ErrorIs(t, stored(), recovery.ErrTooLarge)
	assert.True(t, failed)
}
