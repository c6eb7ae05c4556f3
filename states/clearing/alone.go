package clearing

import (
	"context"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// Refusal is why a session is left alone: an API answered 400 to a request that had been changed.
type Refusal string

// The refusals. Their texts are those of the log and of the proxy's report on itself.
const (
	BoundThinking Refusal = "the API refused a changed request, because thinking in it is bound to what stood before it"
	Changed       Refusal = "the API refused a changed request, and took it as it came"
)

// alone are the sessions whose requests pass through as they come. They outlive the ledger: it may be lost and opened anew. Once there
// are too many it starts over with the latest ones; a session that was forgotten costs one more refusal, which its client does not see.
type alone struct {
	mu       sync.Mutex
	sessions map[aloneKey]bool
	noMark   map[aloneKey]bool // those whose requests get no mark of ours any more
	why      string            // the latest of them does
	looked   time.Time         // time of the latest check of the store for those of other processes
}

// maxAlone bounds them.
const maxAlone = 10_000

// aloneKey is a session of a subject.
type aloneKey struct{ subject, session string }

// add adds sessions. It reports whether one of them is new.
func (a *alone) add(marks ...contextgc.Mark) (added bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, m := range marks[max(0, len(marks)-maxAlone/2):] {
		if a.sessions == nil || len(a.sessions) >= maxAlone {
			a.sessions = make(map[aloneKey]bool)
		}
		if key := (aloneKey{m.Subject, m.Session}); !a.sessions[key] {
			a.sessions[key], a.why, added = true, m.Detail, true
		}
	}
	return added
}

func (a *alone) unmarked(subject, session string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.noMark[aloneKey{subject, session}]
}

// has reports whether a session of the context's subject is one of them.
func (a *alone) has(ctx context.Context, session string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sessions[aloneKey{agent.SubjectOf(ctx), session}]
}

// read adds, at most once per second, the sessions that earlier and other processes stored.
func (a *alone) read(ctx context.Context, store contextgc.Ledger, now time.Time) error {
	a.mu.Lock()
	fresh := now.Sub(a.looked) < time.Second
	a.mu.Unlock()
	if fresh {
		return nil
	}
	marks, err := store.Marks(ctx, contextgc.LeftAlone)
	if err != nil {
		return err
	}
	a.add(marks...)
	if marks, err = store.Marks(ctx, contextgc.NoMark); err != nil {
		return err
	}
	a.unmark(marks...)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.looked = now
	return nil
}

// unmark adds sessions whose requests get no mark of ours. It reports whether one of them is new.
func (a *alone) unmark(marks ...contextgc.Mark) (added bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.noMark == nil {
		a.noMark = make(map[aloneKey]bool)
	}
	for _, m := range marks {
		key := aloneKey{m.Subject, m.Session}
		added = added || !a.noMark[key]
		a.noMark[key] = true
	}
	return added
}
