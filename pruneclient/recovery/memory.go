package recovery

import (
	"container/list"
	"context"
	"crypto/sha256"
	"strings"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// memory is the backend that keeps texts in the memory of one process.
type memory struct {
	limits Settings

	mu      sync.Mutex
	byID    map[string]*list.Element // of *Item
	order   *list.List               // oldest first: with one TTL for all, also the first to expire
	texts   map[[sha256.Size]byte]*shared
	held    map[string]Stats // by owner
	bytes   int64
	evicted int64
}

type shared struct {
	text string
	ids  int
}

func newMemory(s Settings) (Backend, error) {
	return &memory{
		limits: s,
		byID:   map[string]*list.Element{},
		order:  list.New(),
		texts:  map[[sha256.Size]byte]*shared{},
		held:   map[string]Stats{},
	}, nil
}

// Put implements Backend.
func (m *memory) Put(ctx context.Context, i Item, text string) error {
	i = i.Of(agent.SubjectOf(ctx))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropExpired(i.Created)
	if _, taken := m.byID[i.ID]; taken {
		return ErrTaken
	}
	m.byID[i.ID] = m.order.PushBack(&i)
	if t, ok := m.texts[i.Hash]; ok {
		t.ids++
		m.count(&i, 1, 0)
	} else {
		// Copied, because text may be a small part of a large request, which it would keep
		// in memory.
		m.texts[i.Hash] = &shared{text: strings.Clone(text), ids: 1}
		m.count(&i, 1, len(text))
	}
	m.makeRoom(i.owner())
	return nil
}

// Get implements Backend.
func (m *memory) Get(ctx context.Context, id string, now time.Time) (string, bool, error) {
	id = Item{ID: id}.Of(agent.SubjectOf(ctx)).ID
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropExpired(now)
	e, ok := m.byID[id]
	if !ok {
		return "", false, nil
	}
	return m.texts[e.Value.(*Item).Hash].text, true, nil
}

// Stats implements Backend.
func (m *memory) Stats(now time.Time) (Stats, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropExpired(now)
	return Stats{Items: len(m.byID), Texts: len(m.texts), Bytes: m.bytes, Evicted: m.evicted}, nil
}

// Close implements Backend.
func (m *memory) Close() error { return nil }

// dropExpired relies on the monotonic clock readings in created and now, so that changing
// the wall clock neither expires nor revives an id.
func (m *memory) dropExpired(now time.Time) {
	for e := m.order.Front(); e != nil; e = m.order.Front() {
		if now.Sub(e.Value.(*Item).Created) < m.limits.TTL {
			return
		}
		m.drop(e)
	}
}

// count adds to what there is, and to what an item's owner has.
func (m *memory) count(i *Item, items, bytes int) {
	s, owner := m.held[i.owner()], i.owner()
	m.bytes, s.Items, s.Bytes = m.bytes+int64(bytes), s.Items+items, s.Bytes+int64(bytes)
	if m.held[owner] = s; s.Items == 0 {
		delete(m.held, owner)
	}
}

// makeRoom drops the oldest item of the owner that has most of what is too much. putter's newest item stays.
func (m *memory) makeRoom(putter string) {
	for len(m.byID) > m.limits.MaxItems || m.bytes > m.limits.MaxBytes {
		size := func(s Stats) int64 { return s.Bytes }
		if len(m.byID) > m.limits.MaxItems {
			size = func(s Stats) int64 { return int64(s.Items) }
		}
		var most int64
		for owner, s := range m.held {
			if owner != putter || s.Items > 1 {
				most = max(most, size(s))
			}
		}
		e := m.order.Front()
		for size(m.held[e.Value.(*Item).owner()]) < most {
			e = e.Next()
		}
		m.drop(e)
		m.evicted++
	}
}

func (m *memory) drop(e *list.Element) {
	i := m.order.Remove(e).(*Item)
	delete(m.byID, i.ID)
	t := m.texts[i.Hash]
	if t.ids--; t.ids > 0 {
		m.count(i, -1, 0)
		return
	}
	delete(m.texts, i.Hash)
	m.count(i, -1, -len(t.text))
}
