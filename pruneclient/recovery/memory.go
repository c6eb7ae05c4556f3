package recovery

import (
	"container/list"
	"context"
	"crypto/sha256"
	"strings"
	"sync"
	"time"
)

// memory is the backend that keeps texts in the memory of one process.
type memory struct {
	limits Settings

	mu      sync.Mutex
	byID    map[string]*list.Element // of *item
	order   *list.List               // oldest first: with one TTL for all, also the first to expire
	texts   map[[sha256.Size]byte]*shared
	bytes   int64
	evicted int64
}

// shared is one text and the number of its ids.
type shared struct {
	text string
	ids  int
}

func newMemory(s Settings) *memory {
	return &memory{
		limits: s,
		byID:   map[string]*list.Element{},
		order:  list.New(),
		texts:  map[[sha256.Size]byte]*shared{},
	}
}

func (m *memory) put(_ context.Context, i item, text string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropExpired(i.created)
	m.byID[i.id] = m.order.PushBack(&i)
	if t, ok := m.texts[i.hash]; ok {
		t.ids++
	} else {
		// Copied, because text may be a small part of a large request, which it would keep
		// in memory.
		m.texts[i.hash] = &shared{text: strings.Clone(text), ids: 1}
		m.bytes += int64(len(text))
	}
	m.makeRoom()
	return nil
}

func (m *memory) get(_ context.Context, id string, now time.Time) (string, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropExpired(now)
	e, ok := m.byID[id]
	if !ok {
		return "", false, nil
	}
	return m.texts[e.Value.(*item).hash].text, true, nil
}

func (m *memory) stats(now time.Time) (Stats, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropExpired(now)
	return Stats{Items: len(m.byID), Texts: len(m.texts), Bytes: m.bytes, Evicted: m.evicted}, nil
}

func (m *memory) close() error { return nil }

// dropExpired relies on the monotonic clock readings in created and now, so that changing
// the wall clock neither expires nor revives an id.
func (m *memory) dropExpired(now time.Time) {
	for e := m.order.Front(); e != nil; e = m.order.Front() {
		if now.Sub(e.Value.(*item).created) < m.limits.TTL {
			return
		}
		m.drop(e)
	}
}

func (m *memory) makeRoom() {
	for len(m.byID) > m.limits.MaxItems || m.bytes > m.limits.MaxBytes {
		m.drop(m.order.Front())
		m.evicted++
	}
}

func (m *memory) drop(e *list.Element) {
	i := m.order.Remove(e).(*item)
	delete(m.byID, i.id)
	t := m.texts[i.hash]
	if t.ids--; t.ids == 0 {
		delete(m.texts, i.hash)
		m.bytes -= int64(len(t.text))
	}
}
