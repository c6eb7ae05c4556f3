package recovery

import "time"

// clock says when ids end, on this process's monotonic clock. A file can only
// hold wall-clock times; an id that another process or an earlier run put there
// gets its remaining time when it is first seen, and what the wall clock does
// later is without effect.
type clock struct {
	ttl  time.Duration
	ends map[string]time.Time
	seen int64 // seq of the newest id known from the file
}

func newClock(ttl time.Duration) clock { return clock{ttl: ttl, ends: map[string]time.Time{}} }

func (c *clock) start(id string, now time.Time) { c.ends[id] = now.Add(c.ttl) }

// see starts the clock of an id created at a wall-clock time, if it is not
// running. A time of creation in the future counts as now.
func (c *clock) see(id string, created, now time.Time) {
	if _, ok := c.ends[id]; ok {
		return
	}
	age := max(0, now.Round(0).Sub(created))
	c.ends[id] = now.Add(c.ttl - age)
}

func (c *clock) over(id string, now time.Time) bool { return !now.Before(c.ends[id]) }

func (c *clock) stop(id string) { delete(c.ends, id) }

func (c *clock) expired(now time.Time) []string {
	var ids []string
	for id := range c.ends {
		if c.over(id, now) {
			ids = append(ids, id)
		}
	}
	return ids
}
