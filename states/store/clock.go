package store

import (
	"sync"
	"time"
)

// clock measures the lifetime of ids by this process's monotonic clock. A file can only
// hold wall-clock times. An id stored by another process or by an earlier run gets its
// remaining time when it is first seen; later changes of the wall clock have no effect on
// it.
type clock struct {
	ttl time.Duration

	mu   sync.Mutex
	ends map[string]time.Time
}

func newClock(ttl time.Duration) *clock { return &clock{ttl: ttl, ends: map[string]time.Time{}} }

func (c *clock) start(id string, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ends[id] = now.Add(c.ttl)
}

// see starts the clock of an id created at a wall-clock time, unless it is running. A
// creation time in the future counts as now.
func (c *clock) see(id string, created, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.ends[id]; ok {
		return
	}
	age := max(0, now.Round(0).Sub(created))
	c.ends[id] = now.Add(c.ttl - age)
}

func (c *clock) over(id string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !now.Before(c.ends[id])
}

func (c *clock) stop(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.ends, id)
}

func (c *clock) expired(now time.Time) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ids []string
	for id, end := range c.ends {
		if !now.Before(end) {
			ids = append(ids, id)
		}
	}
	return ids
}

// clear forgets all ids.
func (c *clock) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.ends)
}
