package clearing

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// What the usage of an answer says of the cache is remembered for the place of the request: too little there was expired.
func TestTheUsageSaysWhatTheCacheHad(t *testing.T) {
	place := []wire.Key{{1}, {2}}
	asked := Outcome{place: place, before: 50_000, size: 52_000}
	cleared, changed := asked, asked
	cleared.Fresh = 3
	changed.Changed = true
	for name, c := range map[string]struct {
		o                     Outcome
		read, written, prompt int
		want                  int
		misled                bool
	}{
		"all of it":                          {asked, 50_000, 2000, 52_000, -1, false},
		"nothing":                            {asked, 0, 52_000, 52_000, 0, false},
		"the beginning, in other tokens":     {asked, 6500, 58_500, 65_000, 5200, false},
		"a provider that says nothing of it": {asked, 0, 0, 52_000, -1, false},
		"what we cleared ourselves":          {cleared, 10_000, 30_000, 40_000, -1, false},
		"a change, and the beginning":        {changed, 13_000, 39_000, 52_000, 13_000, false},
		"a change that broke nothing":        {changed, 50_000, 2000, 52_000, -1, true},
	} {
		e := &Engine{}
		e.Answered(t.Context(), "s", c.o, c.read, c.written, c.prompt)
		assert.Equal(t, c.want, e.warm.at(place[1:]), name)
		assert.Equal(t, c.misled, e.warm.misled("s"), name)
	}
}

// A conversation after a compaction goes on with the account of the one before, however often each is continued.
func TestACompactionKeepsTheAccount(t *testing.T) {
	var h warmth
	h.begin()
	account := func(calls int) contextgc.ClearingAccount { return contextgc.ClearingAccount{Calls: calls} }
	before := func(system, first uint64) int { return h.before("s", [2]uint64{system, first}).Calls }
	assert.Zero(t, before(1, 1))
	h.keep("s", [2]uint64{1, 1}, account(100))
	assert.Zero(t, before(1, 1), "the first conversation has nothing behind it")
	assert.Equal(t, 100, before(1, 2), "the second one has the first")
	assert.Zero(t, before(2, 3), "a sub-agent has another system prompt")
	h.keep("s", [2]uint64{1, 2}, account(130))
	h.keep("s", [2]uint64{1, 2}, account(140))
	assert.Equal(t, 100, before(1, 2))
	assert.Zero(t, before(1, 1), "a retry of the old conversation")
	assert.Zero(t, h.before("another", [2]uint64{1, 2}).Calls)
}
