package clearing

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// What the usage of an answer says of the cache is remembered for the place of the request: too little there was expired.
func TestTheUsageSaysWhatTheCacheHad(t *testing.T) {
	place := []wire.Key{{1}, {2}}
	asked := Outcome{place: place, before: 50_000, size: 52_000}
	cleared := asked
	cleared.Fresh = 3
	for name, c := range map[string]struct {
		o                     Outcome
		read, written, prompt int
		want                  int
	}{
		"all of it":                          {asked, 50_000, 2000, 52_000, -1},
		"nothing":                            {asked, 0, 52_000, 52_000, 0},
		"the beginning, in other tokens":     {asked, 6500, 58_500, 65_000, 5200},
		"a provider that says nothing of it": {asked, 0, 0, 52_000, -1},
		"what we cleared ourselves":          {cleared, 10_000, 30_000, 40_000, -1},
	} {
		e := &Engine{}
		e.Answered(t.Context(), "s", c.o, c.read, c.written, c.prompt)
		assert.Equal(t, c.want, e.warm.at(place[1:]), name)
	}
}

// A conversation after a compaction goes on with the account of the one before, however often each is continued.
func TestACompactionKeepsTheAccount(t *testing.T) {
	var h warmth
	h.begin()
	send := func(system, first uint64, calls int) {
		h.send(whose{"", "s"}, []uint64{system, first}, [2]uint64{system, first}, contextgc.ClearingAccount{Calls: calls}, time.Time{})
	}
	before := func(system, first uint64) int { return h.before(whose{"", "s"}, [2]uint64{system, first}).Calls }
	assert.Zero(t, before(1, 1))
	send(1, 1, 100)
	assert.Zero(t, before(1, 1), "the first conversation has nothing behind it")
	assert.Equal(t, 100, before(1, 2), "the second one has the first")
	assert.Zero(t, before(2, 3), "a sub-agent has another system prompt")
	send(1, 2, 130)
	send(1, 2, 140)
	assert.Equal(t, 100, before(1, 2))
	assert.Zero(t, before(1, 1), "a retry of the old conversation")
	assert.Equal(t, 140, before(1, 3))
	assert.Zero(t, h.before(whose{"", "another"}, [2]uint64{1, 2}).Calls)
	assert.Zero(t, h.before(whose{"bob", "s"}, [2]uint64{1, 2}).Calls, "of the same name, but somebody else's")
	for n := range uint64(100) {
		send(1, 10+n, 200)
	}
	s, _ := h.sent.get(whose{"", "s"})
	assert.Len(t, s.conversations, maxPrompts)
	assert.Equal(t, 200, before(1, 4))
}

// What is remembered of sessions is bounded in bytes, and the sessions of one subject make none of another one's forgotten.
func TestWhatWasSentIsBounded(t *testing.T) {
	var h warmth
	h.begin()
	send := func(subject string, n, size int) {
		prefixes := make([]uint64, size)
		prefixes[0] = uint64(n)
		h.send(whose{subject, strconv.Itoa(n)}, prefixes, [2]uint64{1, uint64(n)}, contextgc.ClearingAccount{}, time.Unix(1, 0))
	}
	send("ann", 0, 1000)
	for n := range 2 * maxSent / 8 / 100_000 {
		send("bob", n, 100_000)
	}
	assert.LessOrEqual(t, h.sent.sum, maxSent)
	assert.False(t, h.latest(whose{"ann", "0"}).IsZero())
	assert.True(t, h.latest(whose{"bob", "0"}).IsZero(), "his oldest one")
	assert.Equal(t, len(h.sent.all), h.sent.subjects["ann"].order.Len()+h.sent.subjects["bob"].order.Len())
}

// What a session sent is found again by what follows it, by a fork of it, and up to what its client changed.
func TestTheBeginningsThatWereSent(t *testing.T) {
	var h warmth
	h.begin()
	now, w := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC), whose{"", "s"}
	send := func(prefixes []uint64, at time.Time) {
		h.send(w, prefixes, [2]uint64{}, contextgc.ClearingAccount{}, at)
	}
	assert.True(t, h.latest(w).IsZero())
	for n := range 30 {
		send([]uint64{1, 2, 3, uint64(100 + n)}, now.Add(time.Duration(n)*time.Second))
	}
	send([]uint64{1, 2, 3, 129, 4}, now.Add(time.Minute))
	s, _ := h.sent.get(w)
	assert.Len(t, s.prompts, maxPrompts, "the last one goes on with another one")
	assert.Equal(t, now.Add(time.Minute), h.latest(w))
	for _, c := range []struct {
		prefixes []uint64
		want     int
	}{{[]uint64{1, 2, 3, 129, 4, 5}, 4}, {[]uint64{1, 2, 3, 128, 9}, 3}, {[]uint64{1, 2, 3, 101, 9}, 2}, {[]uint64{7, 2}, -1}} {
		assert.Equal(t, c.want, h.longest(w, c.prefixes, now))
	}
	assert.Equal(t, -1, h.longest(whose{"", "another"}, []uint64{1}, now))
	assert.Equal(t, -1, h.longest(whose{"bob", "s"}, []uint64{1}, now))
	assert.Equal(t, -1, h.longest(w, []uint64{1}, now.Add(time.Hour)))
}
