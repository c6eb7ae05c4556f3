package clearing

import (
	"context"
	"hash/maphash"
	"maps"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
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
	})
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
		h.sessions, h.wrong = map[string]time.Time{session: now}, make(map[string]bool)
	}
}

// cached returns how many tokens of the prompt, counted without clearing, the provider's cache still has. Where that is not
// known it has all of them.
func (w *walk) cached(ctx context.Context) int {
	all, now := w.session.Sent(), w.Now()
	latest, known := w.warm.latest(w.Conversation.Session)
	if !known {
		var err error
		if latest, err = w.Store.LastUse(ctx, w.Conversation.Session); err != nil || latest.IsZero() {
			return all
		}
	}
	switch life := w.Life + cacheMargin; {
	case now.Sub(latest) > life:
		return 0
	case !known || w.warm.misled(w.Conversation.Session):
		return all
	default:
		i := w.warm.longest(w.Prefixes(w.warm.seed, w.texts()), now.Add(-life))
		if i < 0 {
			return 0
		}
		return min(all, w.sizes[i])
	}
}

// misled reports whether the cache of a session was found to be warm where it was taken for cold.
func (h *warmth) misled(session string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.wrong[session]
}

// Answered tells the engine what the provider read from its cache for a request of a session. Where that is much although the
// client seemed to have changed the beginning of its prompt, the session's changes are no longer believed.
func (e *Engine) Answered(session string, o Outcome, read, prompt int) {
	if !o.Changed || prompt == 0 || 2*read < prompt {
		return
	}
	e.warm.begin()
	e.warm.mu.Lock()
	defer e.warm.mu.Unlock()
	e.warm.wrong[session] = true
}

// base returns the tokens before the turns.
func (w *walk) base() int { return tokens.OfJSON(w.Base) }
