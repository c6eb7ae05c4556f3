package clearing

import (
	"hash/maphash"
	"maps"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// cacheMargin is how much longer than the provider promises the proxy takes a cache for alive: clearing a cache that is alive
// costs more than waiting.
const cacheMargin = time.Minute

// warmth knows what the provider's caches still have: the prefixes of prompts that were sent not long ago. A prefix is found again
// after a fork, in a sub-agent, and up to the point where a client changed its history, its tools or its system prompt.
type warmth struct {
	once sync.Once
	seed maphash.Seed

	mu       sync.Mutex
	sent     map[uint64]time.Time // by prefix
	sessions map[string]time.Time // the latest request of each
	wrong    map[string]bool      // sessions whose caches were warm although they should not have been
	talks    map[string]conversations
	cold     map[wire.Key]int // by mark of a place, the tokens that the cache had there, where it had not all
}

// The numbers of prefixes and sessions that are remembered.
const (
	maxPrefixes = 500_000
	maxSessions = 100_000
)

func (h *warmth) begin() {
	h.once.Do(func() {
		h.seed = maphash.MakeSeed()
		h.sent, h.sessions, h.wrong = make(map[uint64]time.Time), make(map[string]time.Time), make(map[string]bool)
		h.cold, h.talks = make(map[wire.Key]int), make(map[string]conversations)
	})
}

// conversations are those of one session.
type conversations struct {
	before map[[2]uint64]contextgc.ClearingAccount // of each, what the session had behind it when it began
	latest map[uint64]contextgc.ClearingAccount    // by what stands before the turns, which a compaction leaves
}

// before returns what a session had behind it when a conversation began. A sub-agent has another system prompt than the session, so
// that it begins with nothing.
func (h *warmth) before(session string, id [2]uint64) contextgc.ClearingAccount {
	h.mu.Lock()
	defer h.mu.Unlock()
	c, ok := h.talks[session]
	if !ok {
		return contextgc.ClearingAccount{}
	}
	a, ok := c.before[id]
	if !ok {
		a = c.latest[id[0]]
	}
	return a
}

// keep records the account of a conversation, which has all that the session had behind it.
func (h *warmth) keep(session string, id [2]uint64, a contextgc.ClearingAccount) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c, ok := h.talks[session]
	if !ok {
		c = conversations{make(map[[2]uint64]contextgc.ClearingAccount), make(map[uint64]contextgc.ClearingAccount)}
		h.talks[session] = c
	}
	if _, ok := c.before[id]; !ok {
		c.before[id] = c.latest[id[0]]
	}
	c.latest[id[0]] = a
}

// found records how many tokens of a prompt the cache had at a place where it had not all of them.
func (h *warmth) found(marks []wire.Key, cached int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.cold) > maxSessions {
		clear(h.cold)
	}
	for _, m := range marks {
		h.cold[m] = cached
	}
}

// at returns what was found at a place; -1 if that is not known, or was everything.
func (h *warmth) at(marks []wire.Key) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range marks {
		if cached, ok := h.cold[m]; ok {
			return cached
		}
	}
	return -1
}

// latest returns the time of a session's latest request, unless this process had none.
func (h *warmth) latest(session string) (at time.Time, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at, known = h.sessions[session]
	return at, known
}

// longest returns the index of the longest of these prefixes, sorted by length, that was sent within life; -1 if none was.
func (h *warmth) longest(prefixes []uint64, since time.Time) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := len(prefixes) - 1; i >= 0; i-- {
		if at, ok := h.sent[prefixes[i]]; ok && !at.Before(since) {
			return i
		}
	}
	return -1
}

// send records that a session sent a prompt with these prefixes.
func (h *warmth) send(session string, prefixes []uint64, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range prefixes {
		h.sent[p] = now
	}
	h.sessions[session] = now
	if len(h.sent) > maxPrefixes {
		maps.DeleteFunc(h.sent, func(_ uint64, at time.Time) bool { return now.Sub(at) > time.Hour })
		if len(h.sent) > maxPrefixes/2 {
			h.sent = make(map[uint64]time.Time)
		}
	}
	if len(h.sessions) > maxSessions {
		h.sessions, h.wrong, h.talks = map[string]time.Time{session: now}, make(map[string]bool), make(map[string]conversations)
	}
}

// misled reports whether the cache of a session was found to be warm where it was taken for cold.
func (h *warmth) misled(session string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.wrong[session]
}

// sizes holds the items of the results seen before, because their texts are decoded and counted once.
type sizes struct {
	mu    sync.Mutex
	items map[wire.Key]contextgc.Item
}

// maxSizes bounds the items held in memory.
const maxSizes = 50_000

func (s *sizes) of(r *wire.Result, compute func() contextgc.Item) contextgc.Item {
	s.mu.Lock()
	item, ok := s.items[r.Key]
	s.mu.Unlock()
	if ok {
		return item
	}
	item = compute()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.items == nil || len(s.items) >= maxSizes {
		s.items = make(map[wire.Key]contextgc.Item)
	}
	s.items[r.Key] = item
	return item
}
