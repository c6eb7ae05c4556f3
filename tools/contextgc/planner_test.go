package contextgc

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// talk returns a session of n calls after a base prompt; result returns the tool result of each call.
func talk(n int, result func(call int) Item) *Planner {
	s := NewPlanner(DefaultPolicy())
	s.Text(20_000, 1)
	for call := range n {
		s.Call(nil, s.Sent())
		s.Text(100, 1)
		s.Add(result(call))
	}
	return s
}

func logs(tokens int) func(int) Item {
	return func(int) Item { return Item{Kind: KindCommand, Tokens: tokens, Stub: 25} }
}

// warm and cold are what the next call meets: all of the last prompt in the cache, or nothing.
func warm(s *Planner) Window { return s.Window(s.Sent()) }
func cold(s *Planner) Window { return s.Window(0) }

func TestSmallSessionsAreLeftAlone(t *testing.T) {
	d := DefaultPolicy().Decide(warm(talk(8, logs(300))))
	assert.Empty(t, d.Clear)
	assert.Contains(t, d.Why, "would not pay")
}

func TestAClearingPays(t *testing.T) {
	w := warm(talk(30, logs(2000)))
	d := DefaultPolicy().Decide(w)
	assert.NotEmpty(t, d.Clear)
	assert.NotContains(t, d.Clear, 29, "the last results stay")
	assert.NotContains(t, d.Clear, 28)
	assert.IsIncreasing(t, d.Clear)
	assert.LessOrEqual(t, d.Calls, DefaultPolicy().MaxPay)
	assert.GreaterOrEqual(t, d.Freed, w.Tokens/5, "in a batch of a fifth of the prompt")
	assert.Contains(t, d.Why, "pays after")
	assert.Equal(t, d, DefaultPolicy().Decide(w), "the same prompt, the same decision")
}

// Where the cache is written again anyway, a clearing costs nothing. Of a cache that has a part of the prompt, this holds for
// what follows the part.
func TestFreeMoments(t *testing.T) {
	s := talk(12, logs(400))
	assert.Empty(t, DefaultPolicy().Decide(warm(s)).Clear)
	d := DefaultPolicy().Decide(cold(s))
	assert.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, d.Clear)
	assert.Contains(t, d.Why, "costs nothing")
	d = DefaultPolicy().Decide(s.Window(20_000 + 3*500 + 50))
	assert.Equal(t, []int{3, 4, 5, 6, 7, 8, 9}, d.Clear, "the first three are in the cache")
	assert.Zero(t, d.Cost)
}

// A model that has just begun is not taken to go on for long: what frees much may still put too much at risk.
func TestAYoungSessionRisksLittle(t *testing.T) {
	bigAt := func(at int) func(int) Item {
		return func(call int) Item {
			if call == at {
				return Item{Kind: KindCommand, Tokens: 20_000, Stub: 25}
			}
			return Item{Kind: KindCommand, Tokens: 10, Stub: 25}
		}
	}
	assert.Empty(t, DefaultPolicy().Decide(warm(talk(4, bigAt(0)))).Clear)
	assert.Empty(t, DefaultPolicy().Decide(warm(talk(30, bigAt(26)))).Clear, "one miss would cost all of it")
	assert.NotEmpty(t, DefaultPolicy().Decide(warm(talk(30, logs(1000)))).Clear)
}

// In a session whose cache was often cold, the planner waits for the next time.
func TestThePlannerWaitsForAColdCache(t *testing.T) {
	w := warm(talk(60, logs(500)))
	require.NotEmpty(t, DefaultPolicy().Decide(w).Clear)
	w.Cold = 40
	assert.Empty(t, DefaultPolicy().Decide(w).Clear)
}

// A cache without marks loses prompts when nobody can foresee it, so that there is no clearing at no cost to wait for.
func TestOnlyForeseenLossesAreWaitedFor(t *testing.T) {
	for lookBack, want := range map[int]int{20: 2, 0: 0} {
		s := NewPlanner(DefaultPolicy())
		s.Prices.LookBack = lookBack
		s.Text(10_000, 1)
		for range 3 {
			s.Call(nil, 0)
		}
		assert.Equal(t, want, s.Window(0).Cold)
	}
}

func TestWhatStays(t *testing.T) {
	clears := func(s *Planner, item int) bool {
		return slices.Contains(DefaultPolicy().Decide(cold(s)).Clear, item)
	}
	files := func(n int) *Planner {
		return talk(n, func(call int) Item {
			if call == 0 {
				return Item{Kind: KindFile, Tokens: 4000, Stub: 25, Path: "x.go"}
			}
			return Item{Kind: KindCommand, Tokens: 2000, Stub: 25}
		})
	}
	assert.True(t, clears(files(30), 0), "a file read long ago goes")
	edited := files(30)
	edited.Work("x.go")
	assert.False(t, clears(edited, 0), "a file in work stays")
	edited.Add(Item{Kind: KindFile, Tokens: 4000, Stub: 25, Path: "x.go"})
	assert.True(t, clears(edited, 0), "a later result shows the file")
	unseen := talk(10, logs(10))
	for range 6 {
		unseen.Add(Item{Kind: KindCommand, Tokens: 9000, Stub: 25})
	}
	assert.Empty(t, DefaultPolicy().Decide(cold(unseen)).Clear, "the model has not seen them")
	again := files(30)
	again.Call([]int{0}, 0)
	again.Needed(0)
	for range 3 {
		again.Add(Item{Kind: KindCommand, Tokens: 10, Stub: 25})
		again.Call(nil, again.Sent())
	}
	assert.False(t, clears(again, 30), "the model has just asked for it again")
	for returns := range 4 {
		item := Item{Kind: KindFile, Tokens: 4000, Path: "x.go", Again: returns}
		stays := 0
		for ; len(DefaultPolicy().may(Window{Items: []Item{item, {Path: "x.go"}, {}, {}}, Call: stays})) == 0; stays++ {
		}
		assert.Equal(t, []int{2, 4, 8, 16}[returns], stays, "a text that is used again and again is not cleared in between")
	}
	pinned := NewPlanner(DefaultPolicy())
	pinned.Add(Item{Tokens: 9000, Stub: 25, Pinned: true})
	for range 5 {
		pinned.Add(Item{Tokens: 9000, Stub: 25})
	}
	for range 20 {
		pinned.Call(nil, pinned.Sent())
	}
	assert.False(t, clears(pinned, 0), "pinned")
	assert.True(t, clears(pinned, 1))
}

// The fixed rule clears nothing that the model has not seen either.
func TestFixedRule(t *testing.T) {
	s := talk(40, logs(2000))
	assert.Len(t, BestFixedRule().Decide(warm(s)).Clear, 35)
	for range 20 {
		s.Add(Item{Tokens: 9000, Stub: 25})
	}
	assert.Len(t, BestFixedRule().Decide(warm(s)).Clear, 39)
}

// Clearing costs the rewriting of everything after it, and saves the reading of the cleared
// tokens.
func TestBills(t *testing.T) {
	run := func(clear bool) ClearingBill {
		s := NewPlanner(DefaultPolicy())
		s.Text(1000, 1)
		s.Add(Item{Kind: KindFile, Tokens: 10_000, Stub: 25, Path: "a.go"})
		s.Text(500, 1)
		s.Call(nil, s.Sent())
		if clear {
			s.Call([]int{0}, s.Sent())
		} else {
			s.Call(nil, s.Sent())
		}
		s.Call(nil, s.Sent())
		return s.Bill()
	}
	plain := run(false)
	assert.InDelta(t, 11_500*1.25+2*11_500*.1, plain.Before, 1e-6)
	assert.InDelta(t, plain.Before, plain.After, 1e-6)
	cleared := run(true)
	assert.InDelta(t, 11_500*1.25+(1000*.1+525*1.25)+1525*.1, cleared.After, 1e-6)
	assert.InDelta(t, plain.Before, cleared.Before, 1e-6)
	assert.Negative(t, cleared.Change())
}

// Of two results, 10,000 and 4,000 tokens, the first is cleared. Then a call needs both, and later again.
func TestANeededResultIsReadAgain(t *testing.T) {
	s := NewPlanner(DefaultPolicy())
	s.Add(Item{Kind: KindFile, Tokens: 10_000, Stub: 25, Path: "a.go"})
	s.Add(Item{Tokens: 4_000, Stub: 25})
	s.Call(nil, s.Sent())
	s.Call([]int{0}, s.Sent())
	s.Needed(0, 1)
	assert.InDelta(t, 4025*.1+150*5+10_000*1.25, s.Bill().Reread, 1e-6)
	s.Needed(0)
	assert.InDelta(t, 4025*.1+150*5+10_000*1.25, s.Bill().Reread, 1e-6, "it is there again")
	assert.Equal(t, 14_025, s.Window(s.Sent()).Tokens)
	assert.Equal(t, 1, s.Bill().Turns)

	s.Call([]int{1, 2}, s.Sent())
	s.Needed(0, 1)
	assert.InDelta(t, 4025*.1+150*5+10_000*1.25+75*.1+150*5+14_000*1.25, s.Bill().Reread, 1e-6, "one turn for both")
	assert.Equal(t, 2, s.Bill().Turns)
}

func TestCompactionEmptiesThePrompt(t *testing.T) {
	s := talk(10, logs(1000))
	s.Compact()
	s.Text(500, 1)
	w := s.Window(s.Sent())
	assert.Empty(t, w.Items)
	assert.Equal(t, 500, w.Tokens)
	assert.Equal(t, 11, w.Call)
}

// The cache has what a call read of the prompt before it, by its share of that prompt; a small rest at its end is always written
// again.
func TestWhatTheCacheStillHas(t *testing.T) {
	for read, want := range map[int]float64{50_000: 1, 48_400: 1, 40_000: .8, 10_000: .2, 0: 0} {
		assert.InDelta(t, want, CachedOf(read, 50_000), 1e-9, "%d read", read)
	}
}

// A clearing that would lose much if the session ended soon after the model needed one of its items waits.
func TestOneMissIsAffordable(t *testing.T) {
	p := DefaultPolicy()
	w := warm(talk(30, logs(1000)))
	require.NotEmpty(t, p.Decide(w).Clear)
	p.MaxOnce = .001
	assert.Empty(t, p.Decide(w).Clear)
}
