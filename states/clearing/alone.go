package clearing

import (
	"context"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// Refusal is why a session is left alone: an API answered 400 to a request that had been changed.
type Refusal string

// The refusals. Their texts are those of the log and of the proxy's report on itself.
const (
	BoundThinking Refusal = "the API refused a changed request, because thinking in it is bound to what stood before it"
	Changed       Refusal = "the API refused a changed request, and took it as it came"
)

// alone holds two kinds of sessions: those whose requests pass through unchanged, and those whose requests no longer get a cache mark of
// ours. It outlives the ledger, which may be lost and opened anew. A forgotten session costs one more refusal, which its client does not see.
type alone struct {
	mu     sync.Mutex
	marks  kept[struct{}] // the session by its kind and name
	why    string         // the latest session is left alone
	looked time.Time      // time of the latest check of the store for those of other processes
}

// add adds sessions. It reports whether one of them is new.
func (a *alone) add(marks ...contextgc.Mark) (added bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, m := range marks {
		w := whose{m.Subject, m.Kind + m.Session}
		if _, known := a.marks.get(w); known {
			continue
		}
		a.marks.put(w, struct{}{}, 1, maxAlone)
		if added = true; m.Kind == contextgc.LeftAlone {
			a.why = m.Detail
		}
	}
	return added
}

// has reports whether a session of a subject has a mark.
func (a *alone) has(subject, session, kind string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, is := a.marks.get(whose{subject, kind + session})
	return is
}

// read adds, at most once per second, the sessions that earlier and other processes stored.
func (a *alone) read(ctx context.Context, store contextgc.Ledger, now time.Time) error {
	a.mu.Lock()
	fresh := now.Sub(a.looked) < time.Second
	a.mu.Unlock()
	if fresh {
		return nil
	}
	for _, kind := range []string{contextgc.LeftAlone, contextgc.NoMark} {
		marks, err := store.Marks(ctx, kind)
		if err != nil {
			return err
		}
		a.add(marks...)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.looked = now
	return nil
}
