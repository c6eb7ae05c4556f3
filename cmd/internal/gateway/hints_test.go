package gateway

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/upstream/connect"
)

const (
	hintsOfReads    = `{"readOnlyHint":true,"openWorldHint":false}`
	hintsOfDestroys = `{"destructiveHint":true}`
	hintsOfStored   = `{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}`
)

// hints returns the hints of the only tool, as listed.
func (w *world) hints(t *testing.T) string {
	t.Helper()
	list := w.Tools("")
	require.Len(t, list, 1)
	listed := string(list[0].Listed["annotations"])
	assert.Equal(t, listed == hintsOfReads, list[0].ReadOnly)
	return listed
}

func (w *world) change(t *testing.T) {
	t.Helper()
	select {
	case <-w.changes:
	case <-time.After(patience):
		require.Fail(t, "nothing told of the change")
	}
}

// TestAChangeOfHintsAloneIsTold runs a server whose tool begins to destroy, in both modes.
func TestAChangeOfHintsAloneIsTold(t *testing.T) {
	for _, mode := range []string{Group, Trim} {
		w := open(t, Options{Servers: []connect.Config{fakeServer("shop", "reads")}, Mode: mode})
		w.Wait(t.Context(), patience, false)
		require.Equal(t, hintsOfReads, w.hints(t))
		_, err := w.call(t, t.Context(), w.Tools("")[0].Name, nil)
		require.NoError(t, err)
		w.change(t)
		assert.Equal(t, hintsOfDestroys, w.hints(t), mode)
	}
}

// TestStoredHintsAreNotTrusted checks that a tool of a stored list is offered with the most careful hints until its server has
// answered, and then with its own, also if nothing has changed since.
func TestStoredHintsAreNotTrusted(t *testing.T) {
	for now, want := range map[string]string{"reads": hintsOfReads, "destroys": hintsOfDestroys} {
		w := open(t, Options{Servers: []connect.Config{fakeServer("shop", "reads")}})
		w.Wait(t.Context(), patience, false)
		w.Close()

		silent := reopen(t, Options{Servers: []connect.Config{fakeServer("shop", "deaf")}})
		assert.Equal(t, hintsOfStored, silent.hints(t))
		silent.Close()

		again := reopen(t, Options{Servers: []connect.Config{fakeServer("shop", now)}, OneClient: true})
		assert.Equal(t, hintsOfStored, again.hints(t), "its server is not started yet")
		again.start()
		again.change(t)
		assert.Equal(t, want, again.hints(t))
	}
}
