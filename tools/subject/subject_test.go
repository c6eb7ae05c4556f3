package subject_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/tools/subject"
)

// A request of the machine's owner has no subject, and a cancelled call keeps its own.
func TestOf(t *testing.T) {
	assert.Empty(t, subject.Of(t.Context()))
	ctx, cancel := context.WithCancel(subject.With(t.Context(), "alice"))
	cancel()
	assert.Equal(t, "alice", subject.Of(context.WithoutCancel(ctx)))
	assert.Equal(t, "bob", subject.Of(subject.With(ctx, "bob")))
}
