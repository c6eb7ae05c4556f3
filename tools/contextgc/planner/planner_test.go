package planner

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// talk returns a session of n calls after a base prompt; result returns the tool result of
// each call.
func talk(n int, result func(call int) (tokens int, path string)) *Session {
	s := NewSession(DefaultPolicy())
	s.Text(20_000)
	for call := range n {
		s.Call(nil, false)
		s.Text(100)
		tokens, path := result(call)
		s.Result(tokens, path, false)
	}
	return s
}

func logs(tokens int) func(int) (int, string) {
	return func(int) (int, string) { return tokens, "" }
}

func TestSmallSessionsAreLeftAlone(t *testing.T) {
	d := DefaultPolicy().Decide(talk(8, logs(300)).Window(false))
	assert.Empty(t, d.Clear)
	assert.Contains(t, d.Why, "would not pay")
}

func TestAClearingPays(t *testing.T) {
	w := talk(30, logs(2000)).Window(false)
	d := DefaultPolicy().Decide(w)
	assert.NotEmpty(t, d.Clear)
	assert.NotContains(t, d.Clear, 29, "the last results stay")
	assert.NotContains(t, d.Clear, 27)
	assert.LessOrEqual(t, d.Calls, DefaultPolicy().MaxPay)
	assert.Contains(t, d.Why, "pays after")
	assert.Equal(t, d, DefaultPolicy().Decide(w), "the same prompt, the same decision")
}

func TestAnExpiredCacheMakesClearingFree(t *testing.T) {
	s := talk(8, logs(300))
	assert.Empty(t, DefaultPolicy().Decide(s.Window(false)).Clear)
	d := DefaultPolicy().Decide(s.Window(true))
	assert.Equal(t, []int{0, 1, 2, 3, 4}, d.Clear)
	assert.Contains(t, d.Why, "costs nothing")
}

func TestWhatStays(t *testing.T) {
	clears := func(s *Session, item int) bool {
		return slices.Contains(DefaultPolicy().Decide(s.Window(true)).Clear, item)
	}
	files := func(n int) *Session {
		return talk(n, func(call int) (int, string) {
			if call == 0 {
				return 4000, "x.go"
			}
			return 2000, ""
		})
	}
	assert.True(t, clears(files(30), 0), "a file read long ago goes")
	assert.False(t, clears(files(7), 0), "a file just read stays")
	edited := files(30)
	edited.Work("x.go")
	assert.False(t, clears(edited, 0), "a file in work stays")
	edited.Result(4000, "x.go", false)
	for range 3 {
		edited.Result(10, "", false)
	}
	assert.True(t, clears(edited, 0), "a later result shows the file")
	pinned := NewSession(DefaultPolicy())
	pinned.Result(9000, "", true)
	for range 5 {
		pinned.Result(9000, "", false)
	}
	assert.False(t, clears(pinned, 0), "pinned")
	assert.True(t, clears(pinned, 1))
}

// Clearing costs the rewriting of everything after it, and saves the reading of the cleared
// tokens.
func TestBills(t *testing.T) {
	run := func(clear bool) Bill {
		s := NewSession(DefaultPolicy())
		s.Text(1000)
		s.Result(10_000, "a.go", false)
		s.Text(500)
		s.Call(nil, false)
		if clear {
			s.Call([]int{0}, false)
		} else {
			s.Call(nil, false)
		}
		s.Call(nil, false)
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
	s := NewSession(DefaultPolicy())
	s.Result(10_000, "a.go", false)
	s.Result(4_000, "", false)
	s.Call(nil, false)
	s.Call([]int{0}, false)
	s.Needed(0, 1)
	assert.InDelta(t, 4025*.1+150*5+10_000*1.25, s.Bill().Reread, 1e-6)
	s.Needed(0)
	assert.InDelta(t, 4025*.1+150*5+10_000*1.25, s.Bill().Reread, 1e-6, "it is there again")
	assert.Equal(t, 14_025, s.Window(false).Tokens)
	assert.Equal(t, 1, s.Bill().Turns)

	s.Call([]int{1, 2}, false)
	s.Needed(0, 1)
	assert.InDelta(t, 4025*.1+150*5+10_000*1.25+75*.1+150*5+14_000*1.25, s.Bill().Reread, 1e-6, "one turn for both")
	assert.Equal(t, 2, s.Bill().Turns)
}

func TestCompactionEmptiesThePrompt(t *testing.T) {
	s := talk(10, logs(1000))
	s.Compact()
	s.Text(500)
	w := s.Window(false)
	assert.Empty(t, w.Items)
	assert.Equal(t, 500, w.Tokens)
	assert.Equal(t, 11, w.Call)
}
