package process

import (
	"fmt"
	"io"
	"slices"
	"sync"
)

// watcher is a small shell beside this process that kills the commands under way,
// with all they started, when this process is gone, however it ended. The kernel
// kills a command's first process then, but nothing that one started.
type watcher struct {
	start func() (io.WriteCloser, error) // nil: there is none on this system

	mu   sync.Mutex
	pipe io.WriteCloser
	live []family
}

var watching = &watcher{start: startWatcher}

// add has a command watched; the returned func ends that. Without a shell to
// watch, commands run all the same.
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

// tell writes to the watcher and starts it when it is not there, or no longer.
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

// String is how the watcher is told of a command. The leader is left out as long as it is not known.
func (f family) String() string {
	if f.leader == 0 {
		return ":" + f.mark
	}
	return fmt.Sprintf("%d:%s", f.leader, f.mark)
}
