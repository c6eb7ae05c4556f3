package recovery_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// countedBackend counts the questions for ids.
type countedBackend struct {
	recovery.Backend
	asked int
}

func (b *countedBackend) Get(ctx context.Context, id string, now time.Time) (string, bool, error) {
	b.asked++
	return "", id == "prn_right", nil
}

// A subject that tries ids is soon answered without a question to the backend, also for an id of its own, and the operator
// is told once. Other subjects and the owner of the machine notice nothing, and it ends with the window.
func TestWrongIDsAreLimited(t *testing.T) {
	clock, backend := newClock(), &countedBackend{}
	var told []string
	s, err := recovery.OpenIn(recovery.Settings{Now: clock.Now, Report: func(m string) { told = append(told, m) }},
		func(recovery.Settings) (recovery.Backend, error) { return backend, nil })
	require.NoError(t, err)
	mallory, ann := agent.WithSubject(t.Context(), "mallory"), agent.WithSubject(t.Context(), "ann")
	var missing *recovery.NotFound
	for range 10_000 {
		_, err := s.Get(mallory, "prn_wrong")
		require.ErrorAs(t, err, &missing)
	}
	assert.Equal(t, recovery.MaxMisses, backend.asked)
	assert.Len(t, told, 1)
	_, err = s.Get(mallory, "prn_right")
	require.ErrorAs(t, err, &missing)
	for _, ctx := range []context.Context{ann, t.Context()} {
		_, err = s.Get(ctx, "prn_right")
		require.NoError(t, err)
	}
	for range 2000 {
		_, err := s.Get(t.Context(), "prn_wrong")
		require.ErrorAs(t, err, &missing)
	}
	_, err = s.Get(t.Context(), "prn_right")
	require.NoError(t, err)
	clock.advance(time.Minute)
	_, err = s.Get(mallory, "prn_right")
	require.NoError(t, err)
}
