package recovery_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/tools/subject"
)

// refusesTakenID: an id is never given to a second text of its subject, and the first one stays.
func refusesTakenID(t *testing.T, open opener) {
	s := open.store(t, recovery.Settings{})
	id := recovery.ShortID()
	require.NoError(t, s.PutAs(t.Context(), id, "first"))
	require.ErrorIs(t, s.PutAs(t.Context(), id, "second"), recovery.ErrTaken)
	requireText(t, s, id, "first")
	assert.Equal(t, 1, stats(t, s).Texts)
	require.NoError(t, s.PutAs(subject.With(t.Context(), "bob"), id, "bob's"))
	put(t, s, "after the refusal")
}
