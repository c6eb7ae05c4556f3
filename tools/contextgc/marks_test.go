package contextgc

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
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

// Above its band each token of a prompt costs more, so that a clearing pays which leads below it, and is billed so. How much room is left
// there counts.
func TestAClearingLeadsIntoACheaperBand(t *testing.T) {
	prices := PricesFor("claude-haiku-5-5", true, 0)
	above := prices.Bands[0].Above
	assert.Equal(t, 79_649, above, "100,000 of its own tokens, as Claude counts them")
	plan := func(bands []tokens.Band) (ClearingDecision, ClearingBill) {
		p := DefaultPolicy()
		p.Prices = prices
		p.Prices.Bands = bands
		s := NewPlanner(p)
		s.Base(20_000)
		for range 40 {
			s.Text((above-54_000)/40, 1)
			s.Call(nil, s.Sent())
		}
		for range 8 {
			s.Add(Item{Kind: KindCommand, Tokens: 4000, Stub: 20})
			s.Call(nil, s.Sent())
		}
		s.Text(2100, 1)
		for range 5 {
			s.Call(nil, s.Sent())
		}
		d := p.Decide(s.Window(s.Sent()))
		before := s.Bill()
		s.Call(d.Clear, s.Sent())
		after := s.Bill()
		return d, ClearingBill{Before: after.Before - before.Before, After: after.After - before.After}
	}
	d, call := plan(prices.Bands)
	assert.Equal(t, []int{0, 1, 2, 3, 4, 5}, d.Clear)
	assert.InDelta(t, 5*.1*float64(above), call.Before, 100)
	assert.InDelta(t, .1*float64(above-34_000)+1.25*10_100, call.After, 500, "read up to the first result, at a fifth of the price")
	without, _ := plan(nil)
	assert.Empty(t, without.Clear, "where all prompts have one price")
}

// A tool that comes with the first stub stands before everything: the first clearing has the whole prompt written again, the next one
// only what follows it.
func TestAToolComesWithTheFirstClearing(t *testing.T) {
	for _, look := range []int{0, 20} {
		p := DefaultPolicy()
		p.Prices.LookBack = look
		s := NewPlanner(p)
		s.Tool = true
		s.Base(1000)
		first := s.Add(Item{Tokens: 500, Stub: 5})
		s.Call(nil, 0)
		second := s.Add(Item{Tokens: 500, Stub: 5})
		s.Call(nil, s.Sent())
		assert.NotNil(t, s.Window(s.Sent()).Entries)
		assert.Zero(t, entryBefore(s.Window(s.Sent()).Entries, 1000))
		before := s.Bill().After
		s.Call([]int{first}, s.Sent())
		assert.InDelta(t, float64(s.Shown())*p.Prices.Write, s.Bill().After-before, 1e-9)
		before = s.Bill().After
		s.Call([]int{second}, s.Sent())
		assert.Less(t, s.Bill().After-before, float64(s.Shown())*p.Prices.Write)
	}
}
