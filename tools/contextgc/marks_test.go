package contextgc

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A cache with marks finds an entry where an earlier prompt ended, at most so many blocks before the end; else only what stands
// before the conversation.
func TestACacheWithMarks(t *testing.T) {
	for name, c := range map[string]struct {
		look, blocks int
		want         float64 // of the last prompt
	}{
		"any beginning":  {0, 30, 1000*.1 + 1000*.1 + (30*10+5)*1.25},
		"near the end":   {20, 5, 1000*.1 + 1000*.1 + (5*10+5)*1.25},
		"too far behind": {20, 30, 1000*.1 + (1000+30*10+5)*1.25},
	} {
		p := DefaultPolicy()
		p.Prices.LookBack = c.look
		s := NewPlanner(p)
		s.Base(1000)
		s.Text(1000, 1)
		s.Call(nil, 0)
		item := s.Add(Item{Tokens: 500, Stub: 5})
		s.Text(c.blocks*10, c.blocks)
		s.Call(nil, s.Sent())
		before := s.Bill().After
		s.Call([]int{item}, s.Sent())
		assert.InDelta(t, c.want, s.Bill().After-before, 1e-9, name)
	}
}

// What an entry's prefix had is another text once something in it was cleared: entries from before are not found any more.
func TestEntriesFromBeforeAClearing(t *testing.T) {
	p := DefaultPolicy()
	p.Prices.LookBack = 20
	s := NewPlanner(p)
	s.Base(1000)
	first := s.Add(Item{Tokens: 500, Stub: 5})
	s.Call(nil, 0)
	second := s.Add(Item{Tokens: 500, Stub: 5})
	s.Call(nil, s.Sent())
	for _, item := range []int{first, second} {
		before := s.Bill().After
		s.Call([]int{item}, s.Sent())
		want := 1000*p.Prices.Read + float64(s.Shown()-1000)*p.Prices.Write
		assert.InDelta(t, want, s.Bill().After-before, 1e-9)
	}
}

// Whether a cache keeps entries at marks is known of the model, or else by the form of the request.
func TestWhoseCacheHasMarks(t *testing.T) {
	for _, c := range []struct {
		model     string
		anthropic bool
		want      int
	}{{"claude-opus-5", false, 20}, {"gpt-6.2", false, 0}, {"gpt-6.2", true, 0}, {"our-best-model", true, 20}, {"our-best-model", false, 0}, {"", false, 0}} {
		assert.Equal(t, c.want, PricesFor(c.model, c.anthropic, 0).LookBack, c.model)
	}
}
