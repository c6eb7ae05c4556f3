package store_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// ledgers are the implementations of contextgc.Ledger. Each makes an empty ledger with a clock; every call of what it returns
// opens that ledger once more, as another process would.
var ledgers = map[string]func(t *testing.T, now func() time.Time) (open func() contextgc.Ledger){
	"sqlite": func(t *testing.T, now func() time.Time) func() contextgc.Ledger {
		file := filepath.Join(t.TempDir(), "ledger.db")
		return func() contextgc.Ledger {
			kept, err := store.OpenLedger(store.LedgerFile{File: file, Now: now})
			require.NoError(t, err)
			t.Cleanup(func() { assert.NoError(t, kept.Close()) })
			return kept
		}
	},
}

// TestLedgers holds the checks that every implementation passes; TestLedgerInPostgres and TestLedgerBehindPgbouncer are the same with a database.
func TestLedgers(t *testing.T) { passes(t, ledgers) }

func TestLedgerInPostgres(t *testing.T) {
	inPostgres(t, storetest.Start(t), func(name string) string { return name })
}

func TestLedgerBehindPgbouncer(t *testing.T) {
	server := storetest.Start(t)
	inPostgres(t, server, server.Pooled(t))
}

func inPostgres(t *testing.T, server *storetest.Server, through func(name string) string) {
	t.Helper()
	passes(t, map[string]func(t *testing.T, now func() time.Time) (open func() contextgc.Ledger){
		"postgres": func(t *testing.T, now func() time.Time) func() contextgc.Ledger {
			name := through(server.Database(t))
			return func() contextgc.Ledger {
				db, err := store.Open(store.Database{Name: name, Patience: time.Minute})
				require.NoError(t, err)
				kept := store.LedgerIn(db, now)
				t.Cleanup(func() { assert.NoError(t, kept.Close()) })
				return kept
			}
		},
	})
}

func passes(t *testing.T, ledgers map[string]func(t *testing.T, now func() time.Time) (open func() contextgc.Ledger)) {
	t.Helper()
	for name, test := range map[string]func(*ledgerTest){
		"Put": (*ledgerTest).put, "Get": (*ledgerTest).get, "List": (*ledgerTest).list, "Search": (*ledgerTest).search,
		"Change": (*ledgerTest).change, "Old": (*ledgerTest).old, "Later": (*ledgerTest).later, "Decide": (*ledgerTest).decide,
		"Settle": (*ledgerTest).settle, "Sessions": (*ledgerTest).sessions, "Age": (*ledgerTest).age, "Bytes": (*ledgerTest).bytes,
		"Shared": (*ledgerTest).shared, "Forget": (*ledgerTest).forget, "Past": (*ledgerTest).past,
	} {
		for kind, fresh := range ledgers {
			t.Run(kind+"/"+name, func(t *testing.T) {
				w := &ledgerTest{T: t, now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)}
				w.open = fresh(t, func() time.Time { return w.now })
				w.Ledger = w.open()
				test(w)
			})
		}
	}
}

// ledgerTest is a ledger whose clock a test sets.
type ledgerTest struct {
	*testing.T
	contextgc.Ledger
	open func() contextgc.Ledger
	now  time.Time
}

// store stores one entry of the project p and returns its id.
func (w *ledgerTest) store(e contextgc.Entry) string {
	w.Helper()
	if e.Project == "" {
		e.Project = "p"
	}
	ids, err := w.Put(w.Context(), e)
	require.NoError(w, err)
	require.Len(w, ids, 1)
	return ids[0]
}

// of returns a segment of the project p.
func (w *ledgerTest) of(id string) contextgc.Segment {
	w.Helper()
	s, _, err := w.Ledger.Get(w.Context(), contextgc.Reference{Project: "p", ID: id})
	require.NoError(w, err)
	return s
}

func (w *ledgerTest) changed(action contextgc.Action, ids ...string) contextgc.Changed {
	w.Helper()
	done, err := w.Change(w.Context(), "p", ids, action)
	require.NoError(w, err)
	return done
}

// ids returns the ids of segments.
func ids(list []contextgc.Segment) []string {
	all := []string{}
	for _, s := range list {
		all = append(all, s.ID)
	}
	return all
}

func (w *ledgerTest) days(n int) { w.now = w.now.Add(time.Duration(n) * 24 * time.Hour) }

// has reports whether the project p has a segment.
func (w *ledgerTest) has(id string) bool {
	_, _, err := w.Ledger.Get(w.Context(), contextgc.Reference{Project: "p", ID: id})
	return err == nil
}

// A session's results are cleared one by one; each is a decision of its own place.
func (w *ledgerTest) clearedResult(session, text string) string {
	w.Helper()
	key := [32]byte{byte(len(text))}
	copy(key[1:], text)
	id := w.store(contextgc.Entry{Text: text, Key: key[:], Segment: contextgc.Segment{Session: session}})
	_, err := w.Clear(w.Context(), contextgc.Place{ID: key, Marks: [][32]byte{key}}, []contextgc.Clearing{{Item: key, Segment: id, Stub: "[cleared]"}})
	require.NoError(w, err)
	return id
}

// Sessions go as a whole when they were not used for long enough, with their texts, words, decisions and usage. Pinned
// segments stay.
func (w *ledgerTest) age() {
	old, pinned, alone := w.clearedResult("old", "an old text"), w.clearedResult("old", "a pinned text"), w.clearedResult("", "a lonely text")
	long := w.clearedResult("long", "the beginning of a long session")
	gone := w.of(old).Hash
	w.changed(contextgc.Pin, pinned)
	require.NoError(w, w.AddUsage(w.Context(), contextgc.Usage{Session: "old"}))
	w.days(60)
	recent := w.clearedResult("long", "its end")
	w.days(31)

	removed, err := w.Clean(w.Context(), contextgc.Limits{})
	require.NoError(w, err)
	assert.Zero(w, removed, "no limit")
	removed, err = w.Clean(w.Context(), contextgc.Limits{Age: 90 * 24 * time.Hour})
	require.NoError(w, err)
	assert.Equal(w, 2, removed)
	assert.Equal(w, []bool{false, true, false, true, true}, []bool{w.has(old), w.has(pinned), w.has(alone), w.has(long), w.has(recent)})
	has, err := w.Has(w.Context(), gone)
	require.NoError(w, err)
	assert.False(w, has)

	found, total, err := w.Ledger.Search(w.Context(), contextgc.Query{Project: "p", Text: "text"})
	require.NoError(w, err)
	assert.Equal(w, []any{1, pinned}, []any{total, found[0].ID})
	clearings, _, _, err := w.Clearings(w.Context(), 0)
	require.NoError(w, err)
	assert.Len(w, clearings, 3, "those of the segments that stay")
	usages, err := w.Usages(w.Context())
	require.NoError(w, err)
	assert.Empty(w, usages)
	size, err := w.Size(w.Context())
	require.NoError(w, err)
	assert.Equal(w, []int{3, 1, 2}, []int{size.Segments, size.Pinned, size.Sessions})
	assert.Equal(w, 2026, size.Oldest.Year())
}

// A ledger that is too large loses the sessions not used for longest, but none of the last day.
func (w *ledgerTest) bytes() {
	const perDay = 30
	var all []string
	for day := range 20 {
		w.days(1)
		for i := range perDay {
			text := ""
			for range 500 {
				text += fmt.Sprintf("output %d of day %d\n", i, day)
			}
			all = append(all, w.clearedResult(fmt.Sprint("session ", day), text))
		}
	}
	w.now = w.now.Add(time.Hour)
	before, err := w.Size(w.Context())
	require.NoError(w, err)
	removed, err := w.Clean(w.Context(), contextgc.Limits{Bytes: before.Bytes / 2})
	require.NoError(w, err)
	after, err := w.Size(w.Context())
	require.NoError(w, err)
	assert.LessOrEqual(w, after.Bytes, before.Bytes/2)
	assert.Greater(w, removed, 200)
	assert.Less(w, removed, 500, "no more than needed")
	assert.False(w, w.has(all[0]))
	assert.True(w, w.has(all[len(all)-1]))

	_, err = w.Clean(w.Context(), contextgc.Limits{Bytes: 1})
	require.NoError(w, err)
	size, err := w.Size(w.Context())
	require.NoError(w, err)
	assert.Equal(w, perDay, size.Segments, "the last day's")
	require.NoError(w, w.Shrink(w.Context()))
	assert.True(w, w.has(all[len(all)-1]))
}

// Usage adds up by session, and a compaction stashes what a session was shown.
func (w *ledgerTest) sessions() {
	for i := range 2 {
		require.NoError(w, w.AddUsage(w.Context(), contextgc.Usage{Session: "s", API: "a", Model: "m", Input: 1, Read: 2, Written: 3, Output: 4,
			Before: float64(10 + i), After: 9, Cleared: i}))
	}
	w.days(1)
	require.NoError(w, w.AddUsage(w.Context(), contextgc.Usage{Session: "later"}))
	list, err := w.Usages(w.Context())
	require.NoError(w, err)
	require.Len(w, list, 2)
	assert.Equal(w, "later", list[0].Session)
	u := list[1]
	assert.Equal(w, []any{2, 2, 4, 6, 8, 11.0, 9.0, 1}, []any{u.Calls, u.Input, u.Read, u.Written, u.Output, u.Before, u.After, u.Cleared})

	shown, pinned := w.store(contextgc.Entry{Text: "x", Segment: contextgc.Segment{Session: "s"}}), w.store(contextgc.Entry{Text: "y", Segment: contextgc.Segment{Session: "s"}})
	other := w.store(contextgc.Entry{Text: "z", Segment: contextgc.Segment{Session: "later"}})
	w.changed(contextgc.Pin, pinned)
	require.NoError(w, w.AddMark(w.Context(), contextgc.Mark{Session: "s", Kind: contextgc.Compacted}))
	assert.Equal(w, []contextgc.Tier{contextgc.Stashed, contextgc.Working, contextgc.Working}, []contextgc.Tier{w.of(shown).Tier, w.of(pinned).Tier, w.of(other).Tier})
	alone := contextgc.Mark{Session: "t", Project: "p", Kind: contextgc.LeftAlone, Detail: "it was refused"}
	require.NoError(w, w.AddMark(w.Context(), alone))
	marks, err := w.Marks(w.Context(), contextgc.LeftAlone)
	require.NoError(w, err)
	assert.Equal(w, []contextgc.Mark{alone}, marks)
}

// forget removes what is asked for, pinned segments too, and nothing else.
func (w *ledgerTest) forget() {
	ctx := w.Context()
	put := func(project, session, text string) string {
		return w.store(contextgc.Entry{Text: text, Segment: contextgc.Segment{Project: project, Session: session}})
	}
	a, b := put("p", "one", "a"), put("p", "two", "b")
	put("q", "one", "c")
	kept := put("q", "two", "a")
	w.changed(contextgc.Pin, a)
	require.NoError(w, w.AddUsage(ctx, contextgc.Usage{Session: "one"}))
	require.NoError(w, w.AddUsage(ctx, contextgc.Usage{Session: "two"}))

	removed, err := w.Forget(ctx, contextgc.Forgotten{Session: "one"})
	require.NoError(w, err)
	assert.Equal(w, 2, removed)
	_, text, err := w.Get(ctx, contextgc.Reference{Project: "q", ID: kept})
	require.NoError(w, err)
	assert.Equal(w, "a", text, "another segment has this text, too")
	usages, err := w.Usages(ctx)
	require.NoError(w, err)
	require.Len(w, usages, 1)
	assert.Equal(w, "two", usages[0].Session)

	removed, err = w.Forget(ctx, contextgc.Forgotten{Project: "p"})
	require.NoError(w, err)
	assert.Equal(w, 1, removed)
	_, _, err = w.Get(ctx, contextgc.Reference{ID: b})
	require.ErrorIs(w, err, contextgc.ErrNotFound)
	removed, err = w.Forget(ctx, contextgc.Forgotten{})
	require.NoError(w, err)
	assert.Zero(w, removed)
	removed, err = w.Forget(ctx, contextgc.Forgotten{All: true})
	require.NoError(w, err)
	assert.Equal(w, 1, removed)
	size, err := w.Size(ctx)
	require.NoError(w, err)
	assert.Zero(w, size.Segments)
}

// past says what was cleared in a session, in order, and what it used: of the subject's own session, and not of another's.
func (w *ledgerTest) past() {
	read := func(ctx context.Context, session string) ([]contextgc.Cleared, contextgc.Usage) {
		w.Helper()
		read := store.ReadLedger(w.Name()).Session
		if l, ok := w.Ledger.(*store.Ledger); ok && w.Shared() {
			read = l.Session
		}
		list, u, err := read(ctx, session)
		require.NoError(w, err)
		return list, u
	}
	ctx := w.Context()
	list, u := read(ctx, "s")
	assert.Empty(w, list)
	assert.Zero(w, u)

	keys := [][32]byte{{1}, {2}, {3}}
	var clear []contextgc.Clearing
	for i, key := range keys {
		id := w.store(contextgc.Entry{Text: fmt.Sprint(i), Key: key[:], Segment: contextgc.Segment{Session: "s", Tool: "Bash", Path: "/p"}})
		clear = append(clear, contextgc.Clearing{Item: key, Segment: id, Stub: fmt.Sprintf("[cleared \xff %d]", i), Tokens: 10 + i})
	}
	decide := func(id byte, list ...contextgc.Clearing) {
		_, err := w.Clear(ctx, contextgc.Place{ID: [32]byte{id}, Marks: [][32]byte{{id}}, Why: fmt.Sprint("why ", id), Pays: int(id)}, list)
		require.NoError(w, err)
	}
	decide(8, clear[1], clear[0])
	w.days(1)
	decide(9, clear[2])
	w.clearedResult("another", "text")
	require.NoError(w, w.AddUsage(ctx, contextgc.Usage{Session: "s", API: "a", Model: "m", Input: 1, Before: 10, After: 9, Cleared: 3}))

	of := func(i int, decision byte, at time.Time) contextgc.Cleared {
		return contextgc.Cleared{Tool: "Bash", Path: "/p", Stub: clear[i].Stub, Hash: sha256.Sum256([]byte(fmt.Sprint(i))), Tokens: 10 + i, At: at,
			Why: fmt.Sprint("why ", decision), Pays: int(decision)}
	}
	list, u = read(ctx, "s")
	assert.Equal(w, []contextgc.Cleared{of(1, 8, w.now.Add(-24*time.Hour)), of(0, 8, w.now.Add(-24*time.Hour)), of(2, 9, w.now)}, list)
	assert.Equal(w, contextgc.Usage{Session: "s", API: "a", Model: "m", Calls: 1, Input: 1, Before: 10, After: 9, Cleared: 3, Updated: w.now}, u)
	if !w.Shared() {
		return
	}
	other := agent.WithSubject(ctx, "other")
	_, err := w.Put(other, contextgc.Entry{Text: "0", Key: keys[0][:], Segment: contextgc.Segment{Project: "p", Session: "s"}})
	require.NoError(w, err)
	list, u = read(other, "s")
	assert.Empty(w, list, "the other subject's equal result was not cleared")
	assert.Zero(w, u)
	list, _ = read(ctx, "s")
	assert.Len(w, list, 3)
}
