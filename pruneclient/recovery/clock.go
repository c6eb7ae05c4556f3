package recovery

import (
	"sync"
	"time"
)

// clock says when ids end, on this process's monotonic clock. A file can only
// hold wall-clock times; an id that another process or an earlier run put there
// gets its remaining time when it is first seen, and what the wall clock does
// later is without effect.
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

// see starts the clock of an id created at a wall-clock time, if it is not
// running. A time of creation in the future counts as now.
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

// clear forgets every id.
func (c *clock) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.ends)
}
