package mcpserver

import (
	"context"
	"slices"
	"sync"
)

// slots are what calls at work hold. They are given out fairly: a client gets at most
// each of them, those who wait take turns client by client, and the first call of a
// client does not wait even when the others hold all there are (up to as many again).
type slots struct {
	most, each int

	mu      sync.Mutex
	used    int
	clients map[any]*share
	turns   []*share // of clients with calls that wait, the next one first
}

// share is one client's part.
type share struct {
	key     any
	used    int
	waiting []*waiter
}

// waiter is a call that waits. granted is closed when it has its slot.
type waiter struct{ granted chan struct{} }

// newSlots makes slots; each is 0 where a client may have them all.
func newSlots(most, each int) *slots {
	if each == 0 {
		each = most
	}
	return &slots{most: most, each: each, clients: make(map[any]*share)}
}

// acquire waits for a slot of a client's. Where ctx ends first there is none, and
// release does nothing.
func (s *slots) acquire(ctx context.Context, client any) (release func()) {
	s.mu.Lock()
	c := s.clients[client]
	if c == nil {
		c = &share{key: client}
		s.clients[client] = c
	}
	if len(c.waiting) == 0 && s.free(c) {
		s.take(c)
		s.mu.Unlock()
		return func() { s.release(c) }
	}
	w := &waiter{make(chan struct{})}
	c.waiting = append(c.waiting, w)
	if len(c.waiting) == 1 {
		s.turns = append(s.turns, c)
	}
	s.mu.Unlock()
	select {
	case <-w.granted:
		return func() { s.release(c) }
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(c.waiting, w); i >= 0 {
		c.waiting = slices.Delete(c.waiting, i, i+1)
		s.settle(c)
		return func() {}
	}
	return func() { s.release(c) } // it was granted at the last moment
}

// free says whether a client may have one more.
func (s *slots) free(c *share) bool {
	return c.used < s.each && (s.used < s.most || c.used == 0 && s.used < 2*s.most)
}

func (s *slots) take(c *share) {
	s.used++
	c.used++
}

func (s *slots) release(c *share) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used--
	c.used--
	s.grant()
	s.settle(c)
}

// grant gives free slots to those who wait: one to a client, which then goes to the
// end of the line.
func (s *slots) grant() {
	for i := 0; i < len(s.turns); {
		c := s.turns[i]
		if !s.free(c) {
			i++
			continue
		}
		s.take(c)
		close(c.waiting[0].granted)
		c.waiting = c.waiting[1:]
		s.turns = slices.Delete(s.turns, i, i+1)
		if len(c.waiting) > 0 {
			s.turns = append(s.turns, c)
		}
	}
}

// settle forgets a client that neither holds nor wants anything.
func (s *slots) settle(c *share) {
	if len(c.waiting) > 0 {
		return
	}
	if i := slices.Index(s.turns, c); i >= 0 {
		s.turns = slices.Delete(s.turns, i, i+1)
	}
	if c.used == 0 && s.clients[c.key] == c {
		delete(s.clients, c.key)
	}
}
