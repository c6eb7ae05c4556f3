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
	mark := func(n int) contextgc.Mark {
		return contextgc.Mark{Kind: contextgc.LeftAlone, Session: strconv.Itoa(n), Detail: string(Changed)}
	}
	stored := make([]contextgc.Mark, 3*maxAlone)
	for n := range stored {
		stored[n] = mark(n)
	}
	latest := strconv.Itoa(len(stored) - 1)
	for range 2 {
		a.add(stored...)
		assert.LessOrEqual(t, len(a.marks.all), maxAlone)
		assert.True(t, a.has("", latest, contextgc.LeftAlone))
	}
	assert.False(t, a.add(stored[len(stored)-1]), "it is known")
	for n := range maxAlone {
		assert.True(t, a.add(mark(-n-1)))
	}
	assert.LessOrEqual(t, len(a.marks.all), maxAlone)
	assert.True(t, a.has("", strconv.Itoa(-maxAlone), contextgc.LeftAlone))
}

// Sessions without our mark are bounded, too, and the many sessions of one subject make none of another one's forgotten.
func TestSessionsWithoutAMarkAreBounded(t *testing.T) {
	var a alone
	assert.True(t, a.add(contextgc.Mark{Kind: contextgc.NoMark, Subject: "ann", Session: "s"}))
	for n := range 2 * maxAlone {
		assert.True(t, a.add(contextgc.Mark{Kind: contextgc.NoMark, Subject: "bob", Session: strconv.Itoa(n)}))
	}
	assert.Len(t, a.marks.all, maxAlone)
	assert.True(t, a.has("ann", "s", contextgc.NoMark))
	assert.False(t, a.has("ann", "s", contextgc.LeftAlone))
	assert.True(t, a.has("bob", strconv.Itoa(2*maxAlone-1), contextgc.NoMark))
}
