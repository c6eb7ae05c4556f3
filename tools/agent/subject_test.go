package agent_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// A request of the machine's owner has no subject, and a cancelled call keeps its own.
func TestOf(t *testing.T) {
	assert.Empty(t, agent.SubjectOf(t.Context()))
	ctx, cancel := context.WithCancel(agent.WithSubject(t.Context(), "alice"))
	cancel()
	assert.Equal(t, "alice", agent.SubjectOf(context.WithoutCancel(ctx)))
	assert.Equal(t, "bob", agent.SubjectOf(agent.WithSubject(ctx, "bob")))
}
