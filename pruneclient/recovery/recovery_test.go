package recovery_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
)

// fakeClock stands still until it is moved.
type fakeClock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *fakeClock { return &fakeClock{now: time.Now()} }

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// onEachShelf runs a test against a store in memory and one in a file.
func onEachShelf(t *testing.T, test func(t *testing.T, open func(recovery.Settings) *recovery.Store)) {
	t.Helper()
	for name, file := range map[string]bool{"memory": false, "file": true} {
		t.Run(name, func(t *testing.T) {
			test(t, func(s recovery.Settings) *recovery.Store {
				if file {
					s.File = filepath.Join(t.TempDir(), "a b?c#%41.db")
				}
				return open(t, s)
			})
		})
	}
}

func open(t *testing.T, s recovery.Settings) *recovery.Store {
	t.Helper()
	store, err := recovery.Open(s)
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func put(t *testing.T, s *recovery.Store, text string) string {
	t.Helper()
	id, err := s.Put(t.Context(), text)
	require.NoError(t, err)
	return id
}

func requireText(t *testing.T, s *recovery.Store, id, want string) {
	t.Helper()
	got, err := s.Get(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, want, got.String())
}

func requireNotFound(t *testing.T, s *recovery.Store, id string) {
	t.Helper()
	_, err := s.Get(t.Context(), id)
	var missing *recovery.NotFound
	require.ErrorAs(t, err, &missing)
	assert.Equal(t, id, missing.ID)
	assert.EqualError(t, err, "prune_id_not_found: "+id)
}

func stats(t *testing.T, s *recovery.Store) recovery.Stats {
	t.Helper()
	got, err := s.Stats()
	require.NoError(t, err)
	return got
}

func TestStoreKeepsTextsByteForByte(t *testing.T) {
	onEachShelf(t, func(t *testing.T, open func(recovery.Settings) *recovery.Store) {
		s := open(recovery.Settings{})
		texts := []string{"", "\n", "a", "a\r\nb\r\n", "\xff\x00\xc3", "é\u2028\u0085\f", strings.Repeat("x", 1<<20)}
		ids := map[string]string{}
		for _, text := range texts {
			id := put(t, s, text)
			assert.Regexp(t, `^prn_[0-9a-f]{32}$`, id)
			ids[id] = text
		}
		require.Len(t, ids, len(texts), "every id is new")
		for id, text := range ids {
			requireText(t, s, id, text)
		}
		requireNotFound(t, s, "prn_unknown")
		requireNotFound(t, s, "")
	})
}

func TestStoreSharesIdenticalTexts(t *testing.T) {
	onEachShelf(t, func(t *testing.T, open func(recovery.Settings) *recovery.Store) {
		s := open(recovery.Settings{MaxItems: 2})
		a, b := put(t, s, "same"), put(t, s, "same")
		require.NotEqual(t, a, b)
		assert.Equal(t, recovery.Stats{Items: 2, Texts: 1, Bytes: 4}, stats(t, s))
		c := put(t, s, "other")
		requireNotFound(t, s, a)
		requireText(t, s, b, "same")
		assert.Equal(t, recovery.Stats{Items: 2, Texts: 2, Bytes: 9, Evicted: 1}, stats(t, s))
		put(t, s, "other")
		requireNotFound(t, s, b)
		requireText(t, s, c, "other")
		assert.Equal(t, recovery.Stats{Items: 2, Texts: 1, Bytes: 5, Evicted: 2}, stats(t, s), "its last id takes a text along")
	})
}

func TestStoreForgetsAfterTheTTL(t *testing.T) {
	onEachShelf(t, func(t *testing.T, open func(recovery.Settings) *recovery.Store) {
		clock := newClock()
		s := open(recovery.Settings{TTL: time.Minute, Now: clock.Now})
		first := put(t, s, "one")
		clock.advance(30 * time.Second)
		second := put(t, s, "one")
		clock.advance(30*time.Second - 1)
		requireText(t, s, first, "one") // reading does not prolong
		clock.advance(1)
		requireNotFound(t, s, first)
		requireText(t, s, second, "one")
		clock.advance(30 * time.Second)
		requireNotFound(t, s, second)
		put(t, s, "two")
		assert.Equal(t, recovery.Stats{Items: 1, Texts: 1, Bytes: 3}, stats(t, s), "what ended takes no room")
	})
}

func TestStoreDropsTheOldestWhenFull(t *testing.T) {
	for name, limits := range map[string]recovery.Settings{
		"items": {MaxItems: 2},
		"bytes": {MaxBytes: 7},
	} {
		t.Run(name, func(t *testing.T) {
			onEachShelf(t, func(t *testing.T, open func(recovery.Settings) *recovery.Store) {
				s := open(limits)
				a, b, c := put(t, s, "aaa"), put(t, s, "bbb"), put(t, s, "ccc")
				requireNotFound(t, s, a)
				requireText(t, s, b, "bbb")
				requireText(t, s, c, "ccc")
				assert.Equal(t, recovery.Stats{Items: 2, Texts: 2, Bytes: 6, Evicted: 1}, stats(t, s))
			})
		})
	}
}

func TestStoreRefusesWhatCannotFit(t *testing.T) {
	onEachShelf(t, func(t *testing.T, open func(recovery.Settings) *recovery.Store) {
		s := open(recovery.Settings{MaxBytes: 4})
		kept := put(t, s, "1234")
		_, err := s.Put(t.Context(), "12345")
		require.ErrorIs(t, err, recovery.ErrTooLarge)
		requireText(t, s, kept, "1234")
	})
}

// The bounds hold for whatever is put in whatever order, and what the store says
// it holds is what can be recovered.
func TestStoreStaysWithinItsBounds(t *testing.T) {
	const maxItems, maxBytes = 7, 100
	onEachShelf(t, func(t *testing.T, open func(recovery.Settings) *recovery.Store) {
		clock := newClock()
		s := open(recovery.Settings{MaxItems: maxItems, MaxBytes: maxBytes, TTL: time.Minute, Now: clock.Now})
		var ids, texts []string
		for i := range 100 {
			texts = append(texts, strings.Repeat(string(rune('a'+i%5)), i*i%43))
			ids = append(ids, put(t, s, texts[i]))
			clock.advance(time.Duration(i%4) * 5 * time.Second)
			found, distinct, bytes := 0, map[string]bool{}, 0
			for j := max(0, i-2*maxItems); j <= i; j++ {
				if _, err := s.Get(t.Context(), ids[j]); err != nil {
					continue
				}
				found++
				if !distinct[texts[j]] {
					distinct[texts[j]], bytes = true, bytes+len(texts[j])
				}
			}
			require.LessOrEqual(t, found, maxItems)
			require.LessOrEqual(t, bytes, maxBytes)
			require.Equal(t, found, stats(t, s).Items)
		}
	})
}

func TestStoreServesManyAtOnce(t *testing.T) {
	onEachShelf(t, func(t *testing.T, open func(recovery.Settings) *recovery.Store) {
		s := open(recovery.Settings{})
		var all sync.WaitGroup
		for w := range 8 {
			all.Go(func() {
				for i := range 20 {
					text := fmt.Sprint("worker ", w, " text ", i%5)
					id, err := s.Put(t.Context(), text)
					if !assert.NoError(t, err) {
						return
					}
					got, err := s.Get(t.Context(), id)
					assert.NoError(t, err)
					assert.Equal(t, text, got.String())
				}
			})
		}
		all.Wait()
		assert.Equal(t, 160, stats(t, s).Items)
		assert.Equal(t, 40, stats(t, s).Texts)
	})
}

func TestOpenRefusesSettings(t *testing.T) {
	for _, s := range []recovery.Settings{{TTL: -1}, {MaxItems: -1}, {MaxBytes: -1}} {
		_, err := recovery.Open(s)
		assert.Error(t, err)
	}
	_, err := recovery.Open(recovery.Settings{File: filepath.Join(t.TempDir(), "no", "such", "folder.db")})
	assert.ErrorContains(t, err, "folder.db")
}
