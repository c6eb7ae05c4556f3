package deepinfra

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"sync"
	"time"
)

type digest [sha256.Size]byte

// cache remembers scores for a while and joins identical calls under way.
type cache struct {
	ttl      time.Duration
	maxItems int
	now      func() time.Time

	mu      sync.Mutex
	items   map[digest]*list.Element // of *cached
	order   *list.List               // oldest first
	flights map[digest]*flight
}

type cached struct {
	key    digest
	scores []float64
	until  time.Time
}

// flight is one call under way. It belongs to everyone who waits for it, so it
// ends early only when nobody is left.
type flight struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiters int
	scores  []float64
	err     error
}

func newCache(s Settings) *cache {
	c := &cache{
		ttl: DefaultCacheTTL, maxItems: DefaultCacheMaxItems, now: s.Now,
		items: map[digest]*list.Element{}, order: list.New(), flights: map[digest]*flight{},
	}
	if s.CacheTTL != nil {
		c.ttl = *s.CacheTTL
	}
	if s.CacheMaxItems != nil {
		c.maxItems = *s.CacheMaxItems
	}
	return c
}

// do returns the scores under key: remembered, from the call under way, or from
// a new one. cached is false only for whoever caused the call.
func (c *cache) do(ctx context.Context, key digest, call func(context.Context) ([]float64, error)) (scores []float64, cached bool, err error) {
	c.mu.Lock()
	if scores, ok := c.fresh(key); ok {
		c.mu.Unlock()
		return scores, true, nil
	}
	f, joined := c.flights[key]
	if !joined {
		f = c.start(ctx, key, call)
	}
	f.waiters++
	c.mu.Unlock()

	select {
	case <-f.done:
		return f.scores, joined, f.err
	case <-ctx.Done():
		c.leave(key, f)
		return nil, joined, ctx.Err()
	}
}

// start makes the call in a goroutine of its own, which ends with the call: at
// its timeout, or when the last waiter left.
func (c *cache) start(ctx context.Context, key digest, call func(context.Context) ([]float64, error)) *flight {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f := &flight{done: make(chan struct{}), cancel: cancel}
	c.flights[key] = f
	go func() {
		defer cancel()
		scores, err := call(ctx)
		c.mu.Lock()
		defer c.mu.Unlock()
		f.scores, f.err = scores, err
		if err == nil {
			c.remember(key, scores)
		}
		if c.flights[key] == f {
			delete(c.flights, key)
		}
		close(f.done)
	}()
	return f
}

func (c *cache) leave(key digest, f *flight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.waiters--; f.waiters > 0 {
		return
	}
	f.cancel()
	// Nobody may join a call that is being cancelled.
	if c.flights[key] == f {
		delete(c.flights, key)
	}
}

func (c *cache) fresh(key digest) ([]float64, bool) {
	e, ok := c.items[key]
	if !ok {
		return nil, false
	}
	item := e.Value.(*cached)
	if !c.now().Before(item.until) {
		c.drop(e)
		return nil, false
	}
	return item.scores, true
}

func (c *cache) remember(key digest, scores []float64) {
	if c.ttl <= 0 || c.maxItems <= 0 {
		return
	}
	if e, ok := c.items[key]; ok {
		c.drop(e)
	}
	c.items[key] = c.order.PushBack(&cached{key: key, scores: scores, until: c.now().Add(c.ttl)})
	for len(c.items) > c.maxItems {
		c.drop(c.order.Front())
	}
}

func (c *cache) drop(e *list.Element) {
	delete(c.items, c.order.Remove(e).(*cached).key)
}

// cacheKey covers everything an answer depends on. Each part is preceded by its
// length, so that no two calls share a key by moving a boundary.
func cacheKey(endpoint string, maxDocs int, question string, documents []string) digest {
	h := sha256.New()
	size := func(n int) {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], uint64(n))
		_, _ = h.Write(b[:])
	}
	add := func(s string) {
		size(len(s))
		_, _ = io.WriteString(h, s)
	}
	add(endpoint)
	size(maxDocs)
	add(question)
	for _, d := range documents {
		add(d)
	}
	return digest(h.Sum(nil))
}
