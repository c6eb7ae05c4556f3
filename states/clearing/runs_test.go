package clearing

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// A session belongs to its subject. If there are too many, the oldest session of the subject with the most of them ends.
func TestRunsAreBounded(t *testing.T) {
	r := NewRuns(func(fsm.Event) {}, nil, "1", time.Now)
	as := func(subject string) context.Context { return agent.WithSubject(t.Context(), subject) }
	anns, bobs := r.Session(as("ann"), "s", "c"), r.Session(as("bob"), "s", "c")
	assert.NotEqual(t, anns.ID(), bobs.ID())
	oldest, _ := r.going.get(whose{"bob", "s"})
	for n := range maxRuns {
		r.Session(as("bob"), strconv.Itoa(n), "c")
	}
	assert.Len(t, r.going.all, maxRuns)
	assert.Equal(t, fsm.RunShutdown, oldest.machine.State())
	assert.Same(t, anns, r.Session(as("ann"), "s", "c"))
	assert.NotSame(t, bobs, r.Session(as("bob"), "s", "c"), "its run has ended")
	r.Close()
	assert.Empty(t, r.going.all)
}
