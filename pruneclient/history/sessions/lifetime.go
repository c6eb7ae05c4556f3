package sessions

import (
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// Lifetime is the change of the bill if the fixed prefix had been cached for an hour, and nothing else had changed.
type Lifetime struct {
	Saved   float64 // writes that would have been reads
	Cost    float64 // the premium of the writes that remain
	Unknown int     // writes of which the transcript does not say how long after the call before they were; they count as within an hour
}

// Net returns what would have been saved; negative: lost.
func (l Lifetime) Net() float64 { return l.Saved - l.Cost }

// Plus returns the sum.
func (l Lifetime) Plus(o Lifetime) Lifetime {
	return Lifetime{l.Saved + o.Saved, l.Cost + o.Cost, l.Unknown + o.Unknown}
}

// HourOnPrefix returns what an hour's lifetime of a prefix of so many tokens would have changed. It is zero where the provider
// asks no other price for it, or where it was in use.
func (b *Bill) HourOnPrefix(prefix int) Lifetime {
	var l Lifetime
	if b.Prices.CacheHour == b.Prices.CacheWrite || prefix == 0 {
		return l
	}
	for i, call := range b.Calls {
		if call.Usage.Hour > 0 {
			return Lifetime{}
		}
		written := float64(max(prefix-call.Usage.CacheRead, 0))
		before := time.Duration(0)
		if i > 0 {
			before = b.at(i - 1)
		}
		pause := b.at(i) - before
		switch {
		case i > 0 && written < float64(prefix)/2: // it was cached, but for blocks at its end
		case i > 0 && pause <= tokens.CacheHour:
			l.Saved += written * (call.Price.CacheWrite - call.Price.CacheRead)
			if b.at(i) == 0 {
				l.Unknown++
			}
		default:
			l.Cost += written * (call.Price.CacheHour - call.Price.CacheWrite)
		}
	}
	return l
}

// at returns when a call was made, since the session began.
func (b *Bill) at(call int) time.Duration { return b.Session.Steps[b.Calls[call].Step].At }
