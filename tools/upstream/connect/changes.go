package connect

import (
	"context"
	"sync"
	"time"
)

// Pauses between the lists of a server that announces a change after each.
const (
	firstPause  = 100 * time.Millisecond // and twice as long each time
	longestWait = 30 * time.Second
	calmAfter   = time.Second // without an announcement: the next one is answered at once again
)

// changes asks a server for its lists again when it announces that they have changed. One request is in progress and one
// pending, however many changes are announced.
type changes struct {
	list func(context.Context, *connection) // asks for the lists

	mu      sync.Mutex
	conn    *connection // that of the latest announcement
	running bool
	pending bool
	listed  time.Time     // when the latest list came
	pause   time.Duration // before the latest list
}

// announce notes an announcement.
func (c *changes) announce(life context.Context, conn *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn, c.pending = conn, true
	if !c.running {
		c.running = true
		go c.run(life)
	}
}

// run lists until nothing is pending, or the server's life ends.
func (c *changes) run(life context.Context) {
	for {
		select {
		case <-life.Done():
			return
		case <-time.After(c.wait()):
		}
		c.mu.Lock()
		conn := c.conn
		c.pending = false // an announcement from now on may come after the list was made
		c.mu.Unlock()
		c.list(life, conn)
		c.mu.Lock()
		c.listed = time.Now()
		again := c.pending
		c.running = again
		c.mu.Unlock()
		if !again {
			return
		}
	}
}

// wait returns how long to wait before the next list.
func (c *changes) wait() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.listed) >= calmAfter {
		c.pause = 0
	} else {
		c.pause = min(max(2*c.pause, firstPause), longestWait)
	}
	return c.pause
}
