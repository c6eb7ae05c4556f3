package store_test

import (
	"crypto/rand"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// A text of arbitrary bytes is returned unchanged, an entry with a known key is stored once, and of several entries all are
// stored or none.
func (w *ledgerTest) put() {
	for _, text := range []string{"", "\x00\xff\r\n", strings.Repeat("long ", 1<<18), "ünï\u2028"} {
		_, got, err := w.Ledger.Get(w.Context(), contextgc.Reference{ID: w.store(contextgc.Entry{Text: text})})
		require.NoError(w, err)
		assert.Equal(w, text, got)
	}
	e := contextgc.Entry{Text: "x", Key: []byte("k")}
	assert.Equal(w, w.store(e), w.store(e))
	at := w.now.Add(-time.Hour)
	id := w.store(contextgc.Entry{Text: "y", Segment: contextgc.Segment{Tags: []string{"a", "b"}, Topic: "t", Created: at, Tokens: 7, Task: "task"}})
	s := w.of(id)
	assert.Equal(w, []any{[]string{"a", "b"}, "t", true, true, 7, 1, "task"}, []any{s.Tags, s.Topic, s.Created.Equal(at), s.Touched.Equal(at), s.Tokens, s.Bytes, s.Task})

	assert.Empty(w, w.of(w.store(contextgc.Entry{Text: "odd", Segment: contextgc.Segment{Path: strings.Repeat("/odd", 300)}})).Path, "no index holds it")

	if w.Shared() { // what no column and what no index holds is an error of its own, and the others are stored
		key := make([]byte, 9000)
		_, _ = rand.Read(key)
		for i, bad := range []contextgc.Entry{{Segment: contextgc.Segment{FirstLine: math.MaxInt}}, {Key: key}} {
			bad.Project = "p"
			_, err := w.Put(w.Context(), contextgc.Entry{Text: "of bob", Segment: contextgc.Segment{Project: "p", Subject: "bob"}}, bad)
			require.ErrorIs(w, err, contextgc.ErrValue)
			list, err := w.List(agent.WithSubject(w.Context(), "bob"), contextgc.Filter{Project: "p"})
			require.NoError(w, err)
			assert.Len(w, list, i+1)
		}
	}

	before, err := w.Size(w.Context())
	require.NoError(w, err)
	_, err = w.Put(w.Context(), contextgc.Entry{Text: "z", Segment: contextgc.Segment{Project: "p"}}, contextgc.Entry{Segment: contextgc.Segment{Project: "bad id"}})
	require.Error(w, err)
	after, err := w.Size(w.Context())
	require.NoError(w, err)
	assert.Equal(w, before.Segments, after.Segments)
}

// A segment is found by its id or by its text's hash, in one project or in any.
func (w *ledgerTest) get() {
	id := w.store(contextgc.Entry{Text: "x"})
	other := w.store(contextgc.Entry{Text: "x", Segment: contextgc.Segment{Project: "q"}})
	hash := w.of(id).Hash
	for want, what := range map[string]contextgc.Reference{
		id: {ID: "prn_1", Project: "p", Hash: &hash}, other: {ID: "prn_1", Hash: &hash},
	} {
		s, text, err := w.Ledger.Get(w.Context(), what)
		require.NoError(w, err)
		assert.Equal(w, []string{want, "x"}, []string{s.ID, text})
	}
	none := [32]byte{1}
	for _, what := range []contextgc.Reference{{ID: "nothing"}, {ID: id, Project: "r"}, {ID: id, Hash: &none}, {ID: other, Project: "p"}} {
		_, _, err := w.Ledger.Get(w.Context(), what)
		assert.ErrorIs(w, err, contextgc.ErrNotFound, "%+v", what)
	}
	for sum, want := range map[[32]byte]bool{hash: true, none: false} {
		has, err := w.Has(w.Context(), sum)
		require.NoError(w, err)
		assert.Equal(w, want, has)
	}
}

func (w *ledgerTest) list() {
	one := w.store(contextgc.Entry{Text: "1", Segment: contextgc.Segment{Task: "t", Session: "s"}})
	two := w.store(contextgc.Entry{Text: "2", Segment: contextgc.Segment{Tier: contextgc.Stashed}})
	three := w.store(contextgc.Entry{Text: "3", Segment: contextgc.Segment{Session: "s", Created: w.now.Add(-time.Hour)}})
	w.store(contextgc.Entry{Text: "4", Segment: contextgc.Segment{Project: "q"}})
	for _, c := range []struct {
		filter contextgc.Filter
		want   []string
	}{
		{contextgc.Filter{Project: "p"}, []string{one, two, three}},
		{contextgc.Filter{Project: "p", Tier: contextgc.Working}, []string{one, three}},
		{contextgc.Filter{Project: "p", Task: "t"}, []string{one}},
		{contextgc.Filter{Session: "s"}, []string{one, three}},
		{contextgc.Filter{Project: "none"}, []string{}},
	} {
		list, err := w.List(w.Context(), c.filter)
		require.NoError(w, err)
		assert.Equal(w, c.want, ids(list), "%+v", c.filter)
	}
}

func (w *ledgerTest) search() {
	old := w.store(contextgc.Entry{Text: "the first line\nÜber a Server\n", Segment: contextgc.Segment{Created: w.now.Add(-time.Hour), Type: contextgc.Code, Path: "a.go", Tags: []string{"x", "y"}}})
	late := w.store(contextgc.Entry{Text: "über my server_name", Segment: contextgc.Segment{Tier: contextgc.Stashed, Task: "t"}})
	later := w.store(contextgc.Entry{Text: "server über all", Segment: contextgc.Segment{Tags: []string{"x"}}})
	w.store(contextgc.Entry{Text: "über a server", Segment: contextgc.Segment{Project: "q"}})
	for _, c := range []struct {
		query contextgc.Query
		want  []string
	}{
		{contextgc.Query{}, []string{later, late, old}},
		{contextgc.Query{Text: "über server"}, []string{later, old}},
		{contextgc.Query{Text: "SERVER_NAME"}, []string{late}},
		{contextgc.Query{Text: `"server" OR (`}, []string{}},
		{contextgc.Query{Text: `()`}, []string{}},
		{contextgc.Query{Tags: []string{"x", "y"}}, []string{old}},
		{contextgc.Query{Path: "a.go", Type: contextgc.Code}, []string{old}},
		{contextgc.Query{Tier: contextgc.Stashed, Task: "t"}, []string{late}},
		{contextgc.Query{Type: contextgc.Note}, []string{}},
	} {
		c.query.Project = "p"
		hits, total, err := w.Ledger.Search(w.Context(), c.query)
		require.NoError(w, err)
		found := []string{}
		for _, h := range hits {
			found = append(found, h.ID)
		}
		assert.Equal(w, c.want, found, "%+v", c.query)
		assert.Equal(w, len(c.want), total)
	}
	hits, total, err := w.Ledger.Search(w.Context(), contextgc.Query{Project: "p", Text: "server", Limit: 1})
	require.NoError(w, err)
	require.Len(w, hits, 1)
	assert.Equal(w, []any{2, 1, "server über all"}, []any{total, hits[0].Line, hits[0].Excerpt})
}

// Changes name what they refuse, and change the rest.
func (w *ledgerTest) change() {
	a, b := w.store(contextgc.Entry{Text: "a", Segment: contextgc.Segment{Tokens: 5}}), w.store(contextgc.Entry{Text: "b", Segment: contextgc.Segment{Tokens: 7}})
	hash := w.of(b).Hash
	missing := contextgc.Changed{Segments: []string{a}, Errors: []string{"Segment none not found"}}
	assert.Equal(w, missing, w.changed(contextgc.Pin, a, "none", a))
	assert.True(w, w.of(a).Pinned)
	assert.Equal(w, contextgc.Changed{Segments: []string{b}, Errors: []string{"Segment " + a + " is pinned and cannot be pruned"}, Freed: 7, Pinned: 1},
		w.changed(contextgc.Stash, a, b))
	assert.Equal(w, contextgc.Stashed, w.of(b).Tier)
	assert.Equal(w, []string{"Segment " + b + " is stashed already"}, w.changed(contextgc.Stash, b).Errors)
	assert.Equal(w, contextgc.Changed{Segments: []string{b}, Errors: []string{}}, w.changed(contextgc.Delete, b), "what is stashed is in no context")
	assert.False(w, w.has(b))
	has, err := w.Has(w.Context(), hash)
	require.NoError(w, err)
	assert.False(w, has, "the text is gone, too")
	w.changed(contextgc.Unpin, a)
	w.days(1)
	w.changed(contextgc.Touch, a)
	s := w.of(a)
	assert.Equal(w, []any{false, 1, true}, []any{s.Pinned, s.References, s.Touched.Equal(w.now)})
	assert.Equal(w, 5, w.changed(contextgc.Delete, a).Freed)
	_, total, err := w.Ledger.Search(w.Context(), contextgc.Query{Project: "p"})
	require.NoError(w, err)
	assert.Zero(w, total)
	_, err = w.Change(w.Context(), "p", []string{w.store(contextgc.Entry{Text: "c"})}, "polish")
	assert.Error(w, err)
}

// A segment becomes old after some collections of its project.
func (w *ledgerTest) old() {
	old := w.store(contextgc.Entry{Text: "old"})
	for range contextgc.OldAfter {
		assert.False(w, w.of(old).Old)
		w.changed(contextgc.Delete, w.store(contextgc.Entry{Text: "x"}))
	}
	assert.True(w, w.of(old).Old)
	assert.False(w, w.of(w.store(contextgc.Entry{Text: "new"})).Old)
}

// A later segment with the same lines of a file supersedes earlier ones.
func (w *ledgerTest) later() {
	put := func(first, last int) string {
		return w.store(contextgc.Entry{Text: "x", Segment: contextgc.Segment{Type: contextgc.Code, Path: "x.go", FirstLine: first, LastLine: last}})
	}
	part, other := put(10, 20), put(30, 40)
	again := put(5, 25)
	assert.Equal(w, again, w.of(part).SupersededBy)
	assert.Empty(w, w.of(other).SupersededBy)
	whole := put(0, 0)
	assert.Equal(w, whole, w.of(other).SupersededBy)
	assert.Equal(w, again, w.of(part).SupersededBy)
}

// Several processes write at once: every id is given once, and each reads what the others wrote.
func (w *ledgerTest) shared() {
	var mu sync.Mutex
	all := make(map[string]bool)
	var writers sync.WaitGroup
	for range 4 {
		ledger := w.open()
		writers.Go(func() {
			for range 25 {
				given, err := ledger.Put(w.Context(), contextgc.Entry{Text: "x", Segment: contextgc.Segment{Project: "p"}})
				if assert.NoError(w, err) {
					mu.Lock()
					all[given[0]] = true
					mu.Unlock()
				}
			}
		})
	}
	writers.Wait()
	list, err := w.List(w.Context(), contextgc.Filter{Project: "p"})
	require.NoError(w, err)
	assert.Len(w, list, 100)
	assert.Len(w, all, 100)
}
