package clearing

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// The sessions that are left alone are bounded, whether they come one by one or many from the store, and the latest ones are among them.
func TestSessionsLeftAloneAreBounded(t *testing.T) {
	var a alone
	mark := func(n int) contextgc.Mark { return contextgc.Mark{Session: strconv.Itoa(n), Detail: string(Changed)} }
	stored := make([]contextgc.Mark, 3*maxAlone)
	for n := range stored {
		stored[n] = mark(n)
	}
	latest := strconv.Itoa(len(stored) - 1)
	for range 2 {
		a.add(stored...)
		assert.LessOrEqual(t, len(a.sessions), maxAlone)
		assert.True(t, a.has(t.Context(), latest))
	}
	assert.False(t, a.add(stored[len(stored)-1]), "it is known")
	for n := range maxAlone {
		assert.True(t, a.add(mark(-n-1)))
	}
	assert.LessOrEqual(t, len(a.sessions), maxAlone)
	assert.True(t, a.has(t.Context(), strconv.Itoa(-maxAlone)))
}
