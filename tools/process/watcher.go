package process

import (
	"fmt"
	"io"
	"slices"
	"sync"
)

// watcher is a small shell beside this process that kills the sessions of the
// commands under way when this process is gone, however it ended. The kernel kills
// a command's first process then, but nothing that one started.
type watcher struct {
	start func() (io.WriteCloser, error) // nil: there is none on this system

	mu   sync.Mutex
	pipe io.WriteCloser
	live []int
}

var watching = &watcher{start: startWatcher}

// add has a session watched; the returned func ends that. Without a shell to
// watch, commands run all the same.
func (w *watcher) add(leader int) (done func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.live = append(w.live, leader)
	w.tell("+", leader)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if i := slices.Index(w.live, leader); i >= 0 {
			w.live = slices.Delete(w.live, i, i+1)
		}
		w.tell("-", leader)
	}
}

// tell writes to the watcher and starts it when it is not there, or no longer.
func (w *watcher) tell(op string, leader int) {
	if w.start == nil {
		return
	}
	if w.pipe != nil {
		if _, err := fmt.Fprintf(w.pipe, "%s %d\n", op, leader); err == nil {
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
	for _, leader := range w.live {
		_, _ = fmt.Fprintf(w.pipe, "+ %d\n", leader)
	}
}
