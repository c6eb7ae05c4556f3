package web_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
)

// store is a store of one key with a clock of its own.
type store struct {
	now    time.Time
	caller web.Caller
	known  bool
	err    error
	asked  int

	warnings []string
}

// grace is longer than the minute after which calls ended that worked.
const grace = 5 * time.Minute

func newStore(t *testing.T) (s *store, m *web.StoredKeys, key string) {
	t.Helper()
	s, key = &store{now: time.Now(), caller: web.Caller{Subject: "alice"}, known: true}, web.NewKey()
	hash := web.HashKey(key)
	return s, web.NewStoredKeys(func(_ context.Context, h []byte) (web.Caller, bool, error) {
		s.asked++
		return s.caller, s.known && string(h) == string(hash), s.err
	}, grace, func(message string) { s.warnings = append(s.warnings, message) }, func() time.Time { return s.now }), key
}

// A key is accepted for the grace after the store was lost, which is said once a minute, and refused after it. It heals by itself.
func TestAKeyOutlivesItsStore(t *testing.T) {
	s, m, key := newStore(t)
	_, err := m.Check(t.Context(), key)
	require.NoError(t, err)
	s.err = errors.New("no connection")
	for range 60 {
		s.now = s.now.Add(time.Second)
		_, err = m.Check(t.Context(), key)
		require.NoError(t, err)
	}
	require.Len(t, s.warnings, 1)
	assert.Contains(t, s.warnings[0], "no connection")
	s.now = s.now.Add(grace - 61*time.Second)
	c, err := m.Check(t.Context(), key)
	require.NoError(t, err)
	assert.Equal(t, "alice", c.Subject)
	assert.NoError(t, m.Ready(t.Context()), "a short outage takes no replica out of the balancer")
	_, err = m.Check(t.Context(), web.NewKey())
	assert.True(t, web.Unavailable(err), "a key that was never seen is not accepted")
	s.now = s.now.Add(time.Second)
	_, err = m.Check(t.Context(), key)
	require.True(t, web.Unavailable(err), "%v", err)
	assert.Error(t, m.Ready(t.Context()))
	s.err = nil
	s.now = s.now.Add(time.Second)
	_, err = m.Check(t.Context(), key)
	assert.NoError(t, err)
	assert.NoError(t, m.Ready(t.Context()))
}

// A revoked key is refused within seconds, and within a minute even if the store fails right after it was revoked.
func TestARevokedKeyIsRefused(t *testing.T) {
	s, m, key := newStore(t)
	_, err := m.Check(t.Context(), key)
	require.NoError(t, err)
	s.known = false
	s.now = s.now.Add(10 * time.Second)
	_, err = m.Check(t.Context(), key)
	require.ErrorIs(t, err, web.ErrUnknownCaller)
	s.err = errors.New("no connection")
	_, err = m.Check(t.Context(), key)
	assert.True(t, web.Unavailable(err), "what was revoked is not remembered as known")

	s, m, key = newStore(t)
	_, err = m.Check(t.Context(), key)
	require.NoError(t, err)
	s.err = errors.New("no connection")
	for range 310 {
		s.now = s.now.Add(time.Second)
		_, err = m.Check(t.Context(), key)
	}
	assert.Error(t, err, "asking again and again prolongs nothing")
}

// An expired key is refused at once, though it is remembered.
func TestAnExpiredKeyIsRefused(t *testing.T) {
	s, m, key := newStore(t)
	s.caller.Until = s.now.Add(time.Second)
	_, err := m.Check(t.Context(), key)
	require.NoError(t, err)
	s.now = s.now.Add(time.Second)
	_, err = m.Check(t.Context(), key)
	assert.ErrorIs(t, err, web.ErrUnknownCaller)
	assert.Equal(t, 1, s.asked)
}

// What is not a key never reaches the store, and a store that fails is not asked for every request.
func TestTheStoreIsSpared(t *testing.T) {
	s, m, key := newStore(t)
	for _, guess := range []string{"", "x", "mcpk_", key + "0"} {
		_, err := m.Check(t.Context(), guess)
		assert.ErrorIs(t, err, web.ErrUnknownCaller)
	}
	assert.Zero(t, s.asked)
	for range 100 {
		_, _ = m.Check(t.Context(), key)
	}
	assert.Equal(t, 1, s.asked)
	s.err = errors.New("no connection")
	for range 100 {
		_, _ = m.Check(t.Context(), web.NewKey())
	}
	assert.Equal(t, 2, s.asked)
}

// Keys that nobody has are looked up two at a time, in the order in which they come, and refuse nobody else: neither one whose key
// was never seen, nor one whose key was.
func TestGuessesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		alice, bob := web.NewKey(), web.NewKey()
		var took, asking, most atomic.Int64
		m := web.NewStoredKeys(func(_ context.Context, hash []byte) (web.Caller, bool, error) {
			if n := asking.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(time.Duration(took.Load()))
			asking.Add(-1)
			return web.Caller{}, string(hash) == string(web.HashKey(alice)) || string(hash) == string(web.HashKey(bob)), nil
		}, grace, nil, time.Now)
		guess := func(n int) (unavailable *atomic.Int64) {
			unavailable = new(atomic.Int64)
			for range n {
				go func() {
					if _, err := m.Check(t.Context(), web.NewKey()); web.Unavailable(err) {
						unavailable.Add(1)
					}
				}()
			}
			synctest.Wait()
			return unavailable
		}
		took.Store(int64(time.Millisecond))
		late := guess(1000)
		_, err := m.Check(t.Context(), alice)
		require.NoError(t, err)
		synctest.Wait()
		assert.Zero(t, late.Load())
		assert.EqualValues(t, 2, most.Load())

		time.Sleep(10 * time.Second)       // her key has to be asked for again
		took.Store(int64(3 * time.Second)) // the store is slow, but answers
		late = guess(10)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		assert.EqualValues(t, 8, late.Load(), "they may be good: they are to be tried again")
		took.Store(0)
		start := time.Now()
		_, err = m.Check(t.Context(), alice)
		require.NoError(t, err)
		assert.Zero(t, time.Since(start))
		_, err = m.Check(t.Context(), bob)
		require.NoError(t, err, "waiting in vain is no failure of the store")
	})
}

// A key opens the doors that its scopes name, and a failing store is not an unknown key.
func TestGate(t *testing.T) {
	s, m, key := newStore(t)
	g := web.Gate{Door: "gateway", Methods: []web.AuthMethod{web.Token("t0ken"), m}}
	s.caller.Doors = []string{"proxy"}
	_, err := g.Check(t.Context(), key)
	assert.ErrorIs(t, err, web.ErrScope)
	_, err = g.Check(t.Context(), "t0ken")
	assert.NoError(t, err)
	s.err = errors.New("no connection")
	_, err = g.Check(t.Context(), web.NewKey())
	assert.True(t, web.Unavailable(err))
	_, err = g.Check(t.Context(), "guess")
	assert.ErrorIs(t, err, web.ErrUnknownCaller)
	assert.NoError(t, g.Ready(t.Context()), "the token needs no store")
}
