package service

import (
	"context"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// turns lets as many calls of each subject wait for a slot as there are slots, so that the texts of one subject, however many, delay
// another's call by those being processed only. The zero value is ready to use.
type turns struct {
	mu sync.Mutex
	of map[string]*turn
}

type turn struct {
	places chan struct{} // one token per call that waits for a slot or has one
	calls  int           // that wait for a place or have one
}

// take waits for a place of the context's subject.
func (t *turns) take(ctx context.Context, places int) (leave func(), err error) {
	subject := agent.SubjectOf(ctx)
	t.mu.Lock()
	mine := t.of[subject]
	if mine == nil {
		if t.of == nil {
			t.of = make(map[string]*turn)
		}
		mine = &turn{places: make(chan struct{}, places)}
		t.of[subject] = mine
	}
	mine.calls++
	t.mu.Unlock()
	end := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if mine.calls--; mine.calls == 0 {
			delete(t.of, subject)
		}
	}
	select {
	case mine.places <- struct{}{}:
		return func() { <-mine.places; end() }, nil
	case <-ctx.Done():
		end()
		return nil, ctx.Err()
	}
}
