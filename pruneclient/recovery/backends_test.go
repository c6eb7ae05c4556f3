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
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// fakeClock stands still until it is moved.
type fakeClock struct {
	mu  sync.Mutex
	now time.Time
}

// Databases keep microseconds.
func newClock() *fakeClock { return &fakeClock{now: time.Now().Truncate(time.Microsecond)} }

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

// backends are the places of a store's texts. Each makes an empty one; every call of what it returns opens a store there, as
// another process would. Those in shared outlive a process.
var (
	backends = map[string]func(*testing.T) opener{"memory": inMemory, "sqlite": inSQLite}
	shared   = map[string]func(*testing.T) opener{"sqlite": inSQLite}
	ownClock = map[string]func(*testing.T) opener{"sqlite": inSQLite} // they count by the clock of each process
)

type opener func(recovery.Settings) (*recovery.Store, error)

func inMemory(*testing.T) opener { return recovery.Open }

func inSQLite(t *testing.T) opener {
	path := filepath.Join(t.TempDir(), "a b?c#%41.db")
	return func(s recovery.Settings) (*recovery.Store, error) { return store.OpenOriginals(path, s) }
}

// inPostgres returns backends in databases of one server, whose names through changes.
func inPostgres(server *storetest.Server, through func(name string) string) map[string]func(*testing.T) opener {
	return map[string]func(*testing.T) opener{"postgres": func(t *testing.T) opener {
		name := through(server.Database(t))
		return func(s recovery.Settings) (*recovery.Store, error) {
			db, err := store.Open(store.Database{Name: name, Patience: time.Minute})
			require.NoError(t, err)
			if s.Now == nil {
				s.Now = time.Now // else the numbers are those of some seconds ago
			}
			return store.OriginalsIn(db, s)
		}
	}}
}

// store opens a store and closes it after the test.
func (open opener) store(t *testing.T, s recovery.Settings) *recovery.Store {
	t.Helper()
	store, err := open(s)
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// TestBackends holds the checks that every backend passes; TestBackendInPostgres and TestBackendBehindPgbouncer are the same with a database.
func TestBackends(t *testing.T) {
	passes(t, backends)
	passesShared(t, shared)
	for kind, fresh := range ownClock {
		t.Run(kind+"/IgnoresAWallClockAhead", func(t *testing.T) { ignoresWallClock(t, fresh(t)) })
	}
}

func TestBackendInPostgres(t *testing.T) {
	in := inPostgres(storetest.Start(t), func(name string) string { return name })
	passes(t, in)
	passesShared(t, in)
}

func TestBackendBehindPgbouncer(t *testing.T) {
	server := storetest.Start(t)
	in := inPostgres(server, server.Pooled(t))
	passes(t, in)
	passesShared(t, in)
}

func passes(t *testing.T, backends map[string]func(*testing.T) opener) {
	t.Helper()
	for kind, fresh := range backends {
		for name, test := range map[string]func(*testing.T, opener){
			"KeepsTextsByteForByte": keepsTexts, "SharesIdenticalTexts": sharesTexts, "ForgetsAfterTheTTL": forgets,
			"RefusesWhatCannotFit": refusesLarge, "RefusesATakenId": refusesTakenID, "PutsBeside": putsBeside, "StaysWithinItsBounds": staysWithinBounds, "ServesManyAtOnce": servesMany,
			"DropsTheOldest/items":   func(t *testing.T, open opener) { dropsOldest(t, open.store(t, recovery.Settings{MaxItems: 2})) },
			"EvictsNobodyElse/items": func(t *testing.T, open opener) { evictsNobodyElse(t, open.store(t, recovery.Settings{MaxItems: 4})) },
			"EvictsNobodyElse/bytes": func(t *testing.T, open opener) { evictsNobodyElse(t, open.store(t, recovery.Settings{MaxBytes: 12})) },
			"DropsTheOldest/bytes":   func(t *testing.T, open opener) { dropsOldest(t, open.store(t, recovery.Settings{MaxBytes: 7})) },
		} {
			t.Run(kind+"/"+name, func(t *testing.T) { test(t, fresh(t)) })
		}
		for _, s := range []recovery.Settings{{TTL: -1}, {MaxItems: -1}, {MaxBytes: -1}} {
			_, err := fresh(t)(s)
			assert.Error(t, err)
		}
	}
}

// passesShared holds the checks of a backend that several processes share.
func passesShared(t *testing.T, shared map[string]func(*testing.T) opener) {
	t.Helper()
	for kind, fresh := range shared {
		for name, test := range map[string]func(*testing.T, opener){
			"LimitsHoldForAllTogether": limitsTogether, "SurvivesARestart": survivesRestart,
		} {
			t.Run(kind+"/"+name, func(t *testing.T) { test(t, fresh(t)) })
		}
	}
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

func keepsTexts(t *testing.T, open opener) {
	s := open.store(t, recovery.Settings{})
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
}

func sharesTexts(t *testing.T, open opener) {
	s := open.store(t, recovery.Settings{MaxItems: 2})
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
}

func forgets(t *testing.T, open opener) {
	clock := newClock()
	s := open.store(t, recovery.Settings{TTL: time.Minute, Now: clock.Now})
	first := put(t, s, "one")
	clock.advance(30 * time.Second)
	second := put(t, s, "one")
	clock.advance(30*time.Second - time.Microsecond)
	requireText(t, s, first, "one") // reading does not prolong
	clock.advance(time.Microsecond)
	requireNotFound(t, s, first)
	requireText(t, s, second, "one")
	clock.advance(30 * time.Second)
	requireNotFound(t, s, second)
	put(t, s, "two")
	assert.Equal(t, recovery.Stats{Items: 1, Texts: 1, Bytes: 3}, stats(t, s), "what ended takes no room")
}

func dropsOldest(t *testing.T, s *recovery.Store) {
	a, b, c := put(t, s, "aaa"), put(t, s, "bbb"), put(t, s, "ccc")
	requireNotFound(t, s, a)
	requireText(t, s, b, "bbb")
	requireText(t, s, c, "ccc")
	assert.Equal(t, recovery.Stats{Items: 2, Texts: 2, Bytes: 6, Evicted: 1}, stats(t, s))
}

// A subject that stores more than fits loses its own oldest texts, and a newcomer's first text stays.
func evictsNobodyElse(t *testing.T, s *recovery.Store) {
	subject := func(name, text string) func(found bool) {
		ctx := agent.WithSubject(t.Context(), name)
		id, err := s.Put(ctx, text)
		require.NoError(t, err)
		return func(found bool) {
			_, err := s.Get(ctx, id)
			assert.Equal(t, found, err == nil, "%s %s", name, text)
		}
	}
	bob, owner := subject("bob", "bob"), put(t, s, "own")
	oldest := subject("ann", "000")
	for i := range 9 {
		subject("ann", fmt.Sprint(111*(i+1)))
	}
	newest := subject("ann", "new")
	carl := subject("carl", "crl")
	bob(true)
	requireText(t, s, owner, "own")
	oldest(false)
	newest(true)
	carl(true)
}

func refusesLarge(t *testing.T, open opener) {
	s := open.store(t, recovery.Settings{MaxBytes: 4})
	kept := put(t, s, "1234")
	_, err := s.Put(t.Context(), "12345")
	require.ErrorIs(t, err, recovery.ErrTooLarge)
	requireText(t, s, kept, "1234")
}

// The bounds hold for whatever is put in whatever order, and what the store says
// it holds is what can be recovered.
func staysWithinBounds(t *testing.T, open opener) {
	const maxItems, maxBytes = 7, 100
	clock := newClock()
	s := open.store(t, recovery.Settings{MaxItems: maxItems, MaxBytes: maxBytes, TTL: time.Minute, Now: clock.Now})
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
}

func servesMany(t *testing.T, open opener) {
	s := open.store(t, recovery.Settings{})
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
}

func limitsTogether(t *testing.T, open opener) {
	one, two := open.store(t, recovery.Settings{MaxItems: 3}), open.store(t, recovery.Settings{MaxItems: 3})
	oldest := put(t, one, "a")
	put(t, two, "b")
	put(t, one, "c")
	newest := put(t, two, "d")
	requireNotFound(t, one, oldest)
	requireText(t, one, newest, "d")
	assert.Equal(t, 3, stats(t, one).Items)
}

func survivesRestart(t *testing.T, open opener) {
	clock := newClock()
	s := recovery.Settings{TTL: time.Minute, Now: clock.Now}
	first := open.store(t, s)
	id := put(t, first, "text")
	require.NoError(t, first.Close())

	clock.advance(59 * time.Second)
	second := open.store(t, s)
	requireText(t, second, id, "text")
	clock.advance(time.Second)
	requireNotFound(t, second, id)
	require.NoError(t, second.Close())
	assert.Equal(t, recovery.Stats{}, stats(t, open.store(t, s)))
}

// The TTL runs on the monotonic clock: what another process wrote with a wall clock an hour ahead or behind lives its TTL
// from when it is first seen, and not for ever.
func ignoresWallClock(t *testing.T, open opener) {
	ahead, clock := newClock(), newClock()
	ahead.advance(time.Hour)
	id := put(t, open.store(t, recovery.Settings{TTL: time.Minute, Now: ahead.Now}), "text")
	ours := open.store(t, recovery.Settings{TTL: time.Minute, Now: clock.Now})
	requireText(t, ours, id, "text")
	clock.advance(time.Minute)
	requireNotFound(t, ours, id)
}
