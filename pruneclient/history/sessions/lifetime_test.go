package sessions

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A prefix of 2,000 tokens is written by call 0, which would have cost 2 instead of 1.25 a token: 1500. It was written again by
// the calls 1 and 3; within an hour it would have been read, 1.25 - 0.1 cheaper: 2300. Longer after, the premium is paid again.
func TestAnHourOnThePrefixOnPaper(t *testing.T) {
	session := func(pauses ...time.Duration) *Bill {
		var steps []Step
		for i, at := range pauses {
			usage := counted(10, 3000, 0, 20)
			if i == 2 {
				usage = counted(10, 100, 2900, 20)
			}
			steps = append(steps, Step{Kind: Call, Usage: usage, At: at})
		}
		return billed(steps)
	}
	minute := time.Minute
	assert.Equal(t, Lifetime{Saved: 4600, Cost: 1500}, session(minute, 20*minute, 21*minute, 80*minute).HourOnPrefix(2000))
	assert.Equal(t, Lifetime{Saved: 2300, Cost: 3000}, session(minute, 20*minute, 21*minute, 82*minute).HourOnPrefix(2000))
	assert.Equal(t, Lifetime{Saved: 4600, Cost: 1500, Unknown: 2}, session(0, 0, 0, 0).HourOnPrefix(2000))
	assert.InDelta(t, 3100, session(0, 0, 0, 0).HourOnPrefix(2000).Net(), 1e-9)
	b := session(0, 0)
	b.Calls[0].Usage.Hour = 5
	assert.Zero(t, b.HourOnPrefix(2000), "it was in use")
	b = session(0, 0)
	b = NewBill(b.Session, modelNamed("gpt-5").Prices)
	assert.Zero(t, b.HourOnPrefix(2000), "no such price")
}
