package recovery_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// An original is its subject's. To everybody else, the owner of the machine included, its id is one that never was, also if
// they guess how the store writes it down; and what two subjects have in common is stored twice.
func TestOriginalsAreTheirSubjects(t *testing.T) {
	for kind, fresh := range backends {
		t.Run(kind, func(t *testing.T) {
			s := fresh(t).store(t, recovery.Settings{})
			ann, bob := agent.WithSubject(t.Context(), "ann"), agent.WithSubject(t.Context(), "bob")
			id, err := s.PutShort(ann, "a secret")
			require.NoError(t, err)
			_, err = s.PutShort(bob, "a secret")
			require.NoError(t, err)
			got, err := s.Get(ann, id)
			require.NoError(t, err)
			assert.Equal(t, "a secret", got.String())
			assert.Equal(t, 2, stats(t, s).Texts)
			_, theirs := s.Get(bob, id)
			assert.EqualError(t, theirs, "prune_id_not_found: "+id)
			requireNotFound(t, s, id)
			guess := recovery.Item{ID: id}.Of("ann").ID
			requireNotFound(t, s, guess)
			_, err = s.Get(bob, guess)
			assert.EqualError(t, err, "prune_id_not_found: "+guess)
		})
	}
}
