package mcpserver

import (
	"context"
	"slices"
	"sync"
)

// slots limits concurrent calls and is fair between clients. A client gets at most each slots, and waiting
// calls are served client by client in turn. The first call of a client does not wait even if the others
// hold all slots; up to as many slots again are given out for that. A session's calls to one upstream server
// count as a client's.
type slots struct {
	most, each int

	mu      sync.Mutex
	used    int
	clients map[any]*share
	turns   []*share // clients with waiting calls, the next one first
}

// share is one client's slots and waiting calls.
type share struct {
	key     any
	used    int
	waiting []*waiter
}

// waiter is a waiting call. granted is closed when it gets its slot.
type waiter struct{ granted chan struct{} }

// newSlots returns most slots, of which one client gets at most each; 0 means all of them.
func newSlots(most, each int) *slots {
	if each == 0 {
		each = most
	}
	return &slots{most: most, each: each, clients: make(map[any]*share)}
}

// acquire waits for a slot for a client. If ctx ends first, there is no slot and release does nothing.
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
	return func() { s.release(c) } // the slot was granted at the same moment
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
