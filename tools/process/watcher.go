package process

import (
	"fmt"
	"io"
	"slices"
	"sync"
)

// watcher is a small shell process. When this process has ended, for any reason, it kills the running commands and
// everything they started. The kernel kills only a command's first process.
type watcher struct {
	start func() (io.WriteCloser, error) // nil: this system has no watcher

	mu   sync.Mutex
	pipe io.WriteCloser
	live []family
}

var watching = &watcher{start: startWatcher}

// add makes the watcher watch a command until the returned function is called. Without a shell for the watcher,
// commands run unwatched.
func (w *watcher) add(f family) (done func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.live = append(w.live, f)
	w.tell("+", f)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if i := slices.Index(w.live, f); i >= 0 {
			w.live = slices.Delete(w.live, i, i+1)
		}
		w.tell("-", f)
	}
}

// tell writes to the watcher. It starts the watcher if it is not running.
func (w *watcher) tell(op string, f family) {
	if w.start == nil {
		return
	}
	if w.pipe != nil {
		if _, err := fmt.Fprintf(w.pipe, "%s %s\n", op, f); err == nil {
			return
		}
		_ = w.pipe.Close()
		w.pipe = nil
	}
	if len(w.live) == 0 {
		return
	}
	pipe, err := w.start()
	if err != nil {
		return
	}
	w.pipe = pipe
	for _, one := range w.live {
		_, _ = fmt.Fprintf(w.pipe, "+ %s\n", one)
	}
}

// String returns the family in the form that the watcher reads. The leader is left out as long as it is not known.
func (f family) String() string {
	if f.leader == 0 {
		return ":" + f.mark
	}
	return fmt.Sprintf("%d:%s", f.leader, f.mark)
}
