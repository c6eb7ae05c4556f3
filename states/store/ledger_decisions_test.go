package store_test

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// Whoever decides first for a place has decided for all, and everybody reads the same. What is pinned is not cleared.
func (w *ledgerTest) decide() {
	item, pinned := [32]byte{1}, [32]byte{2}
	w.store(contextgc.Entry{Text: "x", Key: item[:]})
	w.changed(contextgc.Pin, w.store(contextgc.Entry{Text: "y", Key: pinned[:]}))
	place := contextgc.Place{ID: [32]byte{10}, Marks: [][32]byte{{20}, {21}}}
	list := []contextgc.Clearing{{Item: item, Segment: "s1", Stub: "[cleared]", Tokens: 9, Free: true}, {Item: pinned, Segment: "s2", Stub: "[cleared]"}}
	holds, err := w.Clear(w.Context(), place, list)
	require.NoError(w, err)
	want := list[0]
	want.Since = place.ID
	assert.Equal(w, []contextgc.Clearing{want}, holds)

	other := w.open()
	_, err = other.Clear(w.Context(), contextgc.Place{ID: [32]byte{11}, Marks: [][32]byte{{22}, {21}}}, list)
	require.ErrorIs(w, err, contextgc.ErrDecided)
	_, err = other.Clear(w.Context(), contextgc.Place{ID: [32]byte{11}, Marks: [][32]byte{{22}, {21}}}, nil)
	require.ErrorIs(w, err, contextgc.ErrDecided, "that nothing is cleared is a decision, too")
	after := contextgc.Place{ID: [32]byte{12}, Parent: place.ID, Marks: [][32]byte{{23}}}
	_, err = other.Clear(w.Context(), after, list[:1])
	require.NoError(w, err)
	all, last, keys, err := w.Clearings(w.Context(), 0)
	require.NoError(w, err)
	next := list[0]
	next.Since, next.Parent = after.ID, after.Parent
	assert.Equal(w, []contextgc.Clearing{want, next}, all)
	assert.Equal(w, map[[32]byte]bool{pinned: true}, keys)
	newest, err := other.Last(w.Context())
	require.NoError(w, err)
	assert.Equal(w, last, newest)
	chain, err := other.Chain(w.Context(), [][32]byte{after.ID, {99}})
	require.NoError(w, err)
	assert.Equal(w, []contextgc.Clearing{want, next}, chain, "a decision and the one before it")
	chain, err = other.Chain(w.Context(), [][32]byte{place.ID})
	require.NoError(w, err)
	assert.Equal(w, []contextgc.Clearing{want}, chain, "not the one after it")
	all, same, _, err := other.Clearings(w.Context(), last)
	require.NoError(w, err)
	assert.Empty(w, all)
	assert.Equal(w, last, same)

	heads, err := other.Heads(w.Context(), [][32]byte{{20}, {21}, {22}, {23}})
	require.NoError(w, err)
	assert.Equal(w, map[[32]byte][32]byte{{20}: place.ID, {21}: place.ID, {23}: after.ID}, heads)
	holds, err = w.Clear(w.Context(), contextgc.Place{ID: [32]byte{13}, Parent: after.ID, Marks: [][32]byte{{24}}}, list[1:])
	require.NoError(w, err)
	assert.Empty(w, holds)
	heads, err = w.Heads(w.Context(), [][32]byte{{24}})
	require.NoError(w, err)
	assert.Equal(w, map[[32]byte][32]byte{{24}: after.ID}, heads, "nothing was decided there, so that the earlier decision is in force")
}

// What a mark leads to never changes, however many there are.
func (w *ledgerTest) settle() {
	heads := make(map[[32]byte][32]byte)
	var marks [][32]byte
	for i := range 1300 { // several statements
		mark := [32]byte{byte(i), byte(i >> 8), 1}
		marks = append(marks, mark)
		heads[mark] = [32]byte{byte(i)}
	}
	all, err := w.Ledger.Settle(w.Context(), heads)
	require.NoError(w, err)
	assert.True(w, all)
	all, err = w.Ledger.Settle(w.Context(), map[[32]byte][32]byte{marks[0]: {99}, {255, 255, 2}: {1}})
	require.NoError(w, err)
	assert.False(w, all)
	got, err := w.open().Heads(w.Context(), append(marks, [32]byte{}))
	require.NoError(w, err)
	assert.Equal(w, heads, got)
	_, err = w.Clear(w.Context(), contextgc.Place{ID: [32]byte{1}, Marks: marks[:1]}, nil)
	assert.ErrorIs(w, err, contextgc.ErrDecided)
	many := make([]contextgc.Clearing, 7000) // more than one statement can have parameters for
	for i := range many {
		many[i] = contextgc.Clearing{Item: [32]byte{byte(i), byte(i >> 8), 3}, Stub: "[cleared]"}
	}
	holds, err := w.Clear(w.Context(), contextgc.Place{ID: [32]byte{2}, Marks: [][32]byte{{1, 1, 4}}}, many)
	require.NoError(w, err)
	assert.Len(w, holds, len(many))
}
