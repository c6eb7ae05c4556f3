package contextgc

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// aged is a ledger whose clock a test sets.
type aged struct {
	*Store
	t   *testing.T
	now time.Time
}

func newAged(t *testing.T) *aged {
	t.Helper()
	a := &aged{t: t, now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)}
	var err error
	a.Store, err = Open(StoreSettings{File: filepath.Join(t.TempDir(), "ledger.db"), Now: func() time.Time { return a.now }})
	require.NoError(t, err)
	t.Cleanup(func() { _ = a.Store.Close() })
	return a
}

func (a *aged) put(session, text string) string {
	a.t.Helper()
	key := [32]byte{byte(len(text))}
	copy(key[1:], text)
	ids, err := a.Put(a.t.Context(), Entry{Text: text, Key: key[:], Segment: Segment{Project: "p", Session: session}})
	require.NoError(a.t, err)
	_, err = a.Clear(a.t.Context(), Place{ID: key, Marks: [][32]byte{key}}, []Clearing{{Item: key, Segment: ids[0], Stub: "[cleared]"}})
	require.NoError(a.t, err)
	return ids[0]
}

func (a *aged) days(n int) { a.now = a.now.Add(time.Duration(n) * 24 * time.Hour) }

func (a *aged) has(id string) bool {
	_, _, err := a.Get(a.t.Context(), "p", id)
	return err == nil
}

// Sessions go as a whole when they were not used for long enough, with their texts, words, clearings and
// usage. Pinned segments stay.
func TestOldSessionsAreRemoved(t *testing.T) {
	a := newAged(t)
	old, pinned, alone := a.put("old", "an old text"), a.put("old", "a pinned text"), a.put("", "a lonely text")
	long := a.put("long", "the beginning of a long session")
	_, _, err := a.Pin(t.Context(), "p", []string{pinned}, true)
	require.NoError(t, err)
	require.NoError(t, a.AddUsage(t.Context(), Usage{Session: "old"}))
	require.NoError(t, a.AddMark(t.Context(), Mark{Session: "old", Kind: "x"}))
	a.days(60)
	recent := a.put("long", "its end")
	a.days(31)

	removed, err := a.Clean(t.Context(), Limits{})
	require.NoError(t, err)
	assert.Zero(t, removed, "no limit")
	removed, err = a.Clean(t.Context(), Limits{Age: 90 * 24 * time.Hour})
	require.NoError(t, err)
	assert.Equal(t, 2, removed)
	assert.Equal(t, []bool{false, true, false, true, true}, []bool{a.has(old), a.has(pinned), a.has(alone), a.has(long), a.has(recent)})

	found, total, err := a.Search(t.Context(), Query{Project: "p", Text: "text"})
	require.NoError(t, err)
	assert.Equal(t, []any{1, pinned}, []any{total, found[0].ID})
	clearings, _, err := a.Clearings(t.Context(), 0)
	require.NoError(t, err)
	assert.Len(t, clearings, 3, "those of the segments that stay")
	usages, err := a.Usages(t.Context())
	require.NoError(t, err)
	assert.Empty(t, usages)
	for table, want := range map[string]int{"texts": 3, "segments": 3, "marks": 0} {
		var n int
		require.NoError(t, a.file.DB().QueryRow(`SELECT COUNT(*) FROM `+table).Scan(&n))
		assert.Equal(t, want, n, table)
	}
	size, err := a.Size(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []int{3, 1, 2}, []int{size.Segments, size.Pinned, size.Sessions})
	assert.Equal(t, 2026, size.Oldest.Year())
}

// A ledger that is too large loses the sessions not used for longest, but none of the last day.
func TestALargeLedgerIsCutToSize(t *testing.T) {
	a := newAged(t)
	var ids []string
	for day := range 20 {
		a.days(1)
		for i := range 30 {
			ids = append(ids, a.put(fmt.Sprint("session ", day), strings.Repeat(fmt.Sprintf("output %d of day %d\n", i, day), 500)))
		}
	}
	a.now = a.now.Add(time.Hour)
	before, err := a.Size(t.Context())
	require.NoError(t, err)
	removed, err := a.Clean(t.Context(), Limits{Bytes: before.Bytes / 2})
	require.NoError(t, err)
	after, err := a.Size(t.Context())
	require.NoError(t, err)
	assert.LessOrEqual(t, after.Bytes, before.Bytes/2)
	assert.Greater(t, removed, 200)
	assert.Less(t, removed, 500, "no more than needed")
	assert.False(t, a.has(ids[0]))
	assert.True(t, a.has(ids[len(ids)-1]))

	_, err = a.Clean(t.Context(), Limits{Bytes: 1})
	require.NoError(t, err)
	size, err := a.Size(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 30, size.Segments, "the last day's")
	require.NoError(t, a.Shrink(t.Context()))
	assert.True(t, a.has(ids[len(ids)-1]))
}
