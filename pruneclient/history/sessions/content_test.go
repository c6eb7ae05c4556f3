package sessions

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// The session of paper with words of the user before it. Of what call i sends for the first time a hundredth and less is not
// written to the cache: 10 of 2010 tokens of call 0, 10 of 1010 of call 1.
//
//	prefix  2010 - u tokens: call 0 sends them, calls 1 to 3 read them
//	user    u tokens, the same
//	result  n tokens: call 1 sends them, calls 2 and 3 read them
func TestContentsOnPaper(t *testing.T) {
	steps := append([]Step{{Kind: User, Text: "why does it fail"}}, paper()...)
	b := billed(steps)
	u, n := float64(tokens.Claude("why does it fail")), float64(tokens.Claude("text"))
	by, size := b.Contents()
	first := SplitPrice{Fresh: 10.0 / 2010, Write: 2000.0 / 2010 * 1.25, Read: .3}
	second := SplitPrice{Fresh: 10.0 / 1010, Write: 1000.0 / 1010 * 1.25, Read: .2}
	near := func(want, got SplitPrice, what string) {
		assert.InDeltaSlice(t, []float64{want.Fresh, want.Write, want.Again, want.Read, want.Output}, []float64{got.Fresh, got.Write, got.Again, got.Read, got.Output}, 1e-6, what)
	}
	near(first.Times(2010-u), by[Prefix], "prefix")
	assert.Equal(t, 2010-int(u), size)
	near(first.Times(u), by[person], "user")
	near(second.Times(n), by["result: Read"], "result")
	sum := SplitPrice{}
	for _, part := range by {
		sum = sum.Plus(part)
	}
	assert.InDelta(t, b.Total, sum.Sum(), 1e-6, "nothing is lost: what is not known is unknown")
	assert.InDelta(t, 4*20*5, by[unknown].Output, 1e-9, "no text of an answer is in the transcript")
}

// Call 2 finds no cache: prefix and result are written again, at 10 of 3110 tokens fresh. A prefix of which another session
// left 1,500 tokens in the cache is read at first.
func TestContentsAfterTheCacheExpired(t *testing.T) {
	steps := paper()
	steps[0].Usage = counted(10, 500, 1500, 20)
	steps[3].Usage = counted(10, 3100, 0, 20)
	by, _ := billed(steps).Contents()
	again := 10.0/3110 + 3100.0/3110*1.25
	assert.InDelta(t, 2010*again, by[Prefix].Again, 1e-6)
	assert.InDelta(t, 1500*.1+2010*.2, by[Prefix].Read, 1e-6)
	assert.InDelta(t, 510*(10.0/510), by[Prefix].Fresh, 1e-6)
	assert.InDelta(t, float64(tokens.Claude("text"))*again, by["result: Read"].Again, 1e-6)
}

// After a compaction the prefix is as large as before, and the rest of the first prompt is the summary.
func TestContentsAfterACompaction(t *testing.T) {
	steps := paper()
	steps = append(steps[:3:3], append([]Step{{Kind: Compact}}, steps[3:]...)...)
	by, _ := billed(steps).Contents()
	assert.InDelta(t, 1100*.1, by[summaryText].Read, 1e-6, "3110 - 2010 tokens, read by the last call")
}
