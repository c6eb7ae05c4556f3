package recovery

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// claimed returns an index whose next ids are the given ones.
func claimed(state string, ids ...string) Index {
	return Index{State: state, newID: func() string {
		id := ids[0]
		ids = ids[1:]
		return id
	}}
}

func sumOf(text string) [sha256.Size]byte { return sha256.Sum256([]byte(text)) }

// No id is given twice: not to two ledgers, not to an original beside a ledger, and not to one from before there was an
// index.
func TestAnIDHasOneMeaning(t *testing.T) {
	state := t.TempDir()
	first, err := claimed(state, "prn_00000001").Claim(NewEntry(sumOf("of one ledger"), "/one/ledger.db", "", 7))
	require.NoError(t, err)
	second, err := claimed(state, first, "prn_00000002").Claim(NewEntry(sumOf("of another"), "/another/ledger.db", "", 0))
	require.NoError(t, err)
	assert.Equal(t, "prn_00000002", second)

	s := ArchiveIn(state)
	s.Index = claimed(state, first, second, "prn_00000003")
	id, err := s.Put("an original", "", 1)
	require.NoError(t, err)
	assert.Equal(t, "prn_00000003", id)

	const old = "prn_0000000d"
	require.NoError(t, os.WriteFile(filepath.Join(s.Dir, old), []byte("old"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(s.Dir, old+".first"), []byte("12"), 0o600))
	id, err = claimed(state, old, "prn_00000004").Claim(NewEntry(sumOf("new"), "/one/ledger.db", "", 0))
	require.NoError(t, err)
	assert.Equal(t, "prn_00000004", id)
	text, line, err := s.Get(old, "/")
	require.NoError(t, err)
	assert.Equal(t, []any{"old", 12}, []any{text, line}, "an original that an earlier version stored")

	_, err = claimed(state, slices.Repeat([]string{first}, 8)...).Claim(Entry{})
	require.ErrorIs(t, err, os.ErrExist)
	e, err := Index{State: state}.Find(first)
	require.NoError(t, err)
	assert.Equal(t, []any{"/one/ledger.db", 7, true}, []any{e.Ledger, e.FirstLine(), e.Is("of one ledger")})
	_, _, err = s.Get(first, "/")
	assert.ErrorIs(t, err, ErrNotFound, "it is in a ledger")
}

// Whoever claims at the same time gets ids of their own.
func TestManyClaimAtOnce(t *testing.T) {
	state := t.TempDir()
	var mu sync.Mutex
	next := 0
	few := func() string { // every id is tried by several
		mu.Lock()
		defer mu.Unlock()
		next++
		return fmt.Sprintf("prn_%08x", next/4)
	}
	got := map[string]bool{}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				id, err := Index{State: state, newID: few}.Claim(NewEntry(sumOf("text"), "/ledger.db", "", 0))
				mu.Lock()
				if err == nil && got[id] {
					t.Errorf("%s was given twice", id)
				}
				got[id] = true
				mu.Unlock()
			}
		})
	}
	all.Wait()
}

// A name that is no id finds nothing, wherever it leads. An entry or a text that is not what was written finds nothing
// either.
func TestFindRefuses(t *testing.T) {
	state := t.TempDir()
	s := ArchiveIn(state)
	id, err := s.Put("secret", "", 1)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(state, "prn_01234567"), []byte(`{}`), 0o600))
	for _, hostile := range []string{"", ".", "../x", "../prn_01234567", "prn_0123456", "prn_../../x", "PRN_01234567", "prn_0123456G", id + "\n", id + "/", "/" + id, "s1"} {
		_, err := s.Index.Find(hostile)
		require.ErrorIs(t, err, ErrNotFound, hostile)
		_, _, err = s.Get(hostile, "/")
		require.ErrorIs(t, err, ErrNotFound, hostile)
	}
	require.NoError(t, os.WriteFile(filepath.Join(s.Dir, id), []byte("another text"), 0o600))
	_, _, err = s.Get(id, "/")
	require.ErrorIs(t, err, ErrNotFound)
	for _, damaged := range []string{"", "{", `{"sha256":"zz"}`, `{"sha256":7}`, "null"} {
		require.NoError(t, os.WriteFile(s.Index.path(id), []byte(damaged), 0o600))
		_, _, err = s.Get(id, "/")
		require.ErrorIs(t, err, ErrNotFound, damaged)
	}
	_, err = Index{}.Find(id)
	require.ErrorIs(t, err, ErrNotFound)
	_, err = Index{}.Claim(Entry{})
	require.Error(t, err, "there is no state directory")
}

// An entry knows the cut text that was shown, and no other, whatever it begins with.
func TestShows(t *testing.T) {
	s := ArchiveIn(t.TempDir())
	id, err := s.Put("an original", "", 7)
	require.NoError(t, err)
	e, err := s.Index.Find(id)
	require.NoError(t, err)
	assert.False(t, e.Shows("cut"), "nobody said what was shown")
	require.NoError(t, s.Index.Show(id, "cut\nline\n"))
	e, err = s.Index.Find(id)
	require.NoError(t, err)
	assert.Equal(t, []any{true, true, false, false, 7}, []any{e.Shows("cut\nline\n"), e.Shows("cut\nline"), e.Shows("cut\nline 2"), e.Shows(""), e.FirstLine()})
	text, _, err := s.Get(id, "/")
	require.NoError(t, err)
	assert.Equal(t, "an original", text)
	require.ErrorIs(t, s.Index.Show("prn_ffffffff", "x"), ErrNotFound)
	left, err := os.ReadDir(s.Index.dir())
	require.NoError(t, err)
	assert.Len(t, left, 1)
}

// An entry is removed with its text.
func TestSweepOfTheIndex(t *testing.T) {
	state := t.TempDir()
	x := ArchiveIn(state).Index
	gone := filepath.Join(t.TempDir(), "gone.db")
	other := filepath.Join(t.TempDir(), "other.db")
	require.NoError(t, os.WriteFile(other, nil, 0o600))
	claim := func(text, ledger string) string {
		id, err := x.Claim(NewEntry(sumOf(text), ledger, "", 1))
		require.NoError(t, err)
		return id
	}
	original, err := ArchiveIn(state).Put("an original", "", 1)
	require.NoError(t, err)
	stays := []string{original, claim("kept", "/mine.db"), claim("of another ledger", other)}
	goes := []string{claim("removed", "/mine.db"), claim("of a ledger that was removed", gone), claim("never stored", "")}
	has := func(sum [sha256.Size]byte) (bool, error) { return sum == sumOf("kept"), nil }

	require.NoError(t, x.Sweep("/mine.db", has, time.Now()))
	for _, id := range append(goes, stays...) {
		_, err := x.Find(id)
		require.NoError(t, err, "it may be on its way into its store")
	}
	require.NoError(t, x.Sweep("/mine.db", has, time.Now().Add(maxAge+time.Hour)))
	for _, id := range stays {
		_, err := x.Find(id)
		require.NoError(t, err)
	}
	for _, id := range goes {
		_, err := x.Find(id)
		require.ErrorIs(t, err, ErrNotFound)
	}

	old := ArchiveIn(state)
	old.Now = func() time.Time { return time.Now().Add(maxAge + time.Hour) }
	old.Sweep()
	_, err = x.Find(original)
	require.ErrorIs(t, err, ErrNotFound)
}
