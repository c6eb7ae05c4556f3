package clearing

import (
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// cacheMargin is how much longer than the provider promises the proxy takes a cache for alive: clearing a cache that is alive
// costs more than waiting.
const cacheMargin = time.Minute

// warmth knows what the provider's caches can have: what was sent not long ago, and what the usage of an answer said. A beginning is
// found again after a fork, in a sub-agent, and up to the point where a client changed its history, its tools or its system prompt.
type warmth struct {
	once sync.Once
	seed maphash.Seed

	mu   sync.Mutex
	sent kept[sent]
	cold map[wire.Key]int // by mark of a place, the tokens that the cache had there, where it had not all
}

// sent is what a session sent.
type sent struct {
	prompts       []prompt       // the latest ones that do not begin another one, in the order of their times
	conversations []conversation // the latest ones, in the order of their times
}

// prompt is one that was sent, by its beginnings.
type prompt struct {
	at       time.Time
	prefixes []uint64
}

// What is remembered: bytes of what all sessions sent, places, prompts and conversations of each session, because forks and sub-agents are
// sent in turns, marks of sessions, and runs, of which those end that were left alone for longest.
const (
	maxSent    = 64 << 20
	maxPlaces  = 100_000
	maxPrompts = 16
	maxAlone   = 20_000
	maxRuns    = 2000
)

func (h *warmth) begin() { h.once.Do(func() { h.seed = maphash.MakeSeed() }) }

// conversation is one of a session.
type conversation struct {
	id             [2]uint64                 // what stands before the turns, which a compaction leaves, and the first turn
	before, latest contextgc.ClearingAccount // what the session had behind it when the conversation began, and what it has now
}

// before returns what a session had behind it when a conversation began. A sub-agent has another system prompt than the session, so
// that it begins with nothing.
func (h *warmth) before(w whose, id [2]uint64) (a contextgc.ClearingAccount) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, _ := h.sent.get(w)
	return s.before(id)
}

func (s sent) before(id [2]uint64) (a contextgc.ClearingAccount) {
	for _, c := range s.conversations {
		if c.id == id {
			return c.before
		}
		if c.id[0] == id[0] {
			a = c.latest
		}
	}
	return a
}

// found records how many tokens of a prompt the cache had at a place where it had not all of them.
func (h *warmth) found(marks []wire.Key, cached int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cold == nil || len(h.cold) > maxPlaces {
		h.cold = make(map[wire.Key]int)
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

// latest returns the time of a session's latest request; zero: this process had none.
func (h *warmth) latest(w whose) (at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s, ok := h.sent.get(w); ok {
		at = s.prompts[len(s.prompts)-1].at
	}
	return at
}

// longest returns the index of the longest of these prefixes, sorted by length, that the session sent since a time; -1 if it sent none.
func (h *warmth) longest(w whose, prefixes []uint64, since time.Time) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	most := 0
	s, _ := h.sent.get(w)
	for _, p := range s.prompts {
		if !p.at.Before(since) {
			most = max(most, common(p.prefixes, prefixes))
		}
	}
	return most - 1
}

// send records that a session sent a prompt with these prefixes, and the account of its conversation, which has all that the session had
// behind it.
func (h *warmth) send(w whose, prefixes []uint64, id [2]uint64, a contextgc.ClearingAccount, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, _ := h.sent.get(w)
	talk := conversation{id, s.before(id), a}
	s.conversations = slices.DeleteFunc(s.conversations, func(c conversation) bool { return c.id == id })
	s.conversations = append(s.conversations[max(0, len(s.conversations)-maxPrompts+1):], talk)
	s.prompts = slices.DeleteFunc(s.prompts, func(p prompt) bool { return common(p.prefixes, prefixes) == len(p.prefixes) })
	s.prompts = append(s.prompts[max(0, len(s.prompts)-maxPrompts+1):], prompt{now, prefixes})
	size := 1024
	for _, p := range s.prompts {
		size += 8 * len(p.prefixes)
	}
	h.sent.put(w, s, size+512*len(s.conversations), maxSent)
}

// common returns how many prefixes two prompts have in common.
func common(a, b []uint64) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// sizes holds the items of the results seen before, because their texts are decoded and counted once.
type sizes struct {
	mu    sync.Mutex
	items map[wire.Key]measured
}

// measured is what the text of a result says.
type measured struct {
	contextgc.Item
	refers bool // to an earlier read
}

// maxSizes bounds the items held in memory.
const maxSizes = 50_000

func (s *sizes) of(r *wire.Result, compute func() measured) measured {
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
		s.items = make(map[wire.Key]measured)
	}
	s.items[r.Key] = item
	return item
}
