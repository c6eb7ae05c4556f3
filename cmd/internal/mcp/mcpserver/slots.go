package mcpserver

import (
	"context"
	"slices"
	"sync"
)

// slots limits concurrent calls and is fair between clients. A client gets at most each slots, and the clients with
// one name together leave as many to the others. So a client that opens a session for every call takes what one
// name gets. A free slot goes to the name with the fewest calls at work, and there to the client with the fewest.
//
// A client's first call does not wait even if the others hold all slots: for first calls there are as many extra
// slots, of which clients with one name get at most each. A session's calls to one upstream server count as a
// client's, and its name as a name of its own.
type slots struct {
	most, each int

	mu      sync.Mutex
	used    use
	names   map[any]*group
	clients map[any]*share
	turns   []*share // clients with waiting calls, the one that waited longest first
}

// use counts slots in use.
type use struct{ plain, extra int }

func (u use) all() int { return u.plain + u.extra }

// group is the clients with one name.
type group struct {
	used    use
	clients int
}

// share is one client's slots and waiting calls.
type share struct {
	key     any
	name    any
	group   *group
	used    int
	waiting []*waiter
}

// waiter is a waiting call. granted is closed when it gets its slot, which the client's release gives back.
type waiter struct {
	granted chan struct{}
	release func()
}

// EachPart is the part of all slots that one client has at most, as a divisor.
const EachPart = 4

// newSlots returns most slots, of which one client gets at most each; 0 means all of them.
func newSlots(most, each int) *slots {
	if each == 0 {
		each = most
	}
	return &slots{most: most, each: each, names: make(map[any]*group), clients: make(map[any]*share)}
}

// acquire waits for a slot for a client. If ctx ends first, there is no slot and release does nothing.
func (s *slots) acquire(ctx context.Context, name, client any) (release func()) {
	s.mu.Lock()
	c := s.share(name, client)
	if len(c.waiting) == 0 && s.free(c) {
		defer s.mu.Unlock()
		return s.take(c)
	}
	w := &waiter{granted: make(chan struct{})}
	c.waiting = append(c.waiting, w)
	if len(c.waiting) == 1 {
		s.turns = append(s.turns, c)
	}
	s.mu.Unlock()
	select {
	case <-w.granted:
		return w.release
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(c.waiting, w); i >= 0 {
		c.waiting = slices.Delete(c.waiting, i, i+1)
		s.settle(c)
		return func() {}
	}
	return w.release // the slot was granted at the same moment
}

func (s *slots) share(name, client any) *share {
	if c := s.clients[client]; c != nil {
		return c
	}
	g := s.names[name]
	if g == nil {
		g = new(group)
		s.names[name] = g
	}
	g.clients++
	c := &share{key: client, name: name, group: g}
	s.clients[client] = c
	return c
}

// free says whether a client may have one more.
func (s *slots) free(c *share) bool { return s.plain(c) || s.extra(c) }

func (s *slots) plain(c *share) bool {
	ofName := s.most
	if s.each < s.most {
		ofName -= s.each
	}
	return c.used < s.each && c.group.used.plain < ofName && s.used.plain < s.most
}

func (s *slots) extra(c *share) bool {
	return c.used == 0 && c.group.used.extra < s.each && s.used.extra < s.most
}

// take takes a slot for a client and returns what gives it back.
func (s *slots) take(c *share) (release func()) {
	one := use{plain: 1}
	if !s.plain(c) {
		one = use{extra: 1}
	}
	s.count(c, one)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.count(c, use{-one.plain, -one.extra})
		s.grant()
		s.settle(c)
	}
}

func (s *slots) count(c *share, n use) {
	c.used += n.all()
	for _, u := range []*use{&s.used, &c.group.used} {
		u.plain += n.plain
		u.extra += n.extra
	}
}

// grant gives free slots to those who wait. A client that gets one goes to the end of the line.
func (s *slots) grant() {
	for {
		next := s.next()
		if next < 0 {
			return
		}
		c := s.turns[next]
		c.waiting[0].release = s.take(c)
		close(c.waiting[0].granted)
		c.waiting = c.waiting[1:]
		s.turns = slices.Delete(s.turns, next, next+1)
		if len(c.waiting) > 0 {
			s.turns = append(s.turns, c)
		}
	}
}

// next returns the place in line of the client that gets the next slot, or -1.
func (s *slots) next() int {
	next := -1
	for i, c := range s.turns {
		if s.free(c) && (next < 0 || c.before(s.turns[next])) {
			next = i
		}
	}
	return next
}

func (c *share) before(other *share) bool {
	if mine, theirs := c.group.used.all(), other.group.used.all(); mine != theirs {
		return mine < theirs
	}
	return c.used < other.used
}

// settle forgets a client that neither holds nor wants anything.
func (s *slots) settle(c *share) {
	if len(c.waiting) > 0 {
		return
	}
	if i := slices.Index(s.turns, c); i >= 0 {
		s.turns = slices.Delete(s.turns, i, i+1)
	}
	if c.used > 0 || s.clients[c.key] != c {
		return
	}
	delete(s.clients, c.key)
	if c.group.clients--; c.group.clients == 0 {
		delete(s.names, c.name)
	}
}
