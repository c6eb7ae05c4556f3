package connect

import (
	"context"
	"encoding/json"
	"sync"
)

// queued is a caller on a connection that several clients share: its notifications are sent by a goroutine of its own, so that the
// connection's reader does not wait for a client that does not read. What finds no room is left out.
type queued struct {
	Caller

	mu      sync.Mutex
	waiting []news
	size    int // of waiting, and of what is being sent
	over    bool
	sending sync.WaitGroup
}

type news struct {
	method string
	params any
	size   int
}

const (
	maxQueued = 1 << 20 // bytes
	newsBytes = 256     // that a notification counts beside its params
)

// Notify implements Caller.
func (q *queued) Notify(method string, params any) {
	text, _ := json.Marshal(params) // what was parsed
	n := news{method, params, newsBytes + len(method) + len(text)}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.over || q.size > 0 && q.size+n.size > maxQueued {
		return
	}
	if q.waiting = append(q.waiting, n); q.size == 0 {
		q.sending.Go(q.send)
	}
	q.size += n.size
}

// send sends what waits, and what comes meanwhile.
func (q *queued) send() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) > 0 {
		n := q.waiting[0]
		q.waiting = q.waiting[1:]
		q.mu.Unlock()
		q.Caller.Notify(n.method, n.params)
		q.mu.Lock()
		q.size -= n.size
	}
}

// end waits until everything was sent, before the answer is. A call that was cancelled waits for nothing.
func (q *queued) end(ctx context.Context) {
	q.mu.Lock()
	q.over = true
	if ctx.Err() != nil {
		q.waiting = nil
	}
	q.mu.Unlock()
	if ctx.Err() == nil {
		q.sending.Wait()
	}
}
