package mcpserver

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// maxListeners is the largest number of clients that can wait for changes at once.
const maxListeners = 1024

// Lists that may change while the server runs.
const (
	ToolsList     = "tools"
	ResourcesList = "resources"
	PromptsList   = "prompts"
)

// changes holds the listeners for changes of lists.
type changes struct {
	mu      sync.Mutex
	waiting map[*Listener]bool
	over    chan struct{} // closed when the server ends
	end     func()
}

func newChanges() *changes {
	over := make(chan struct{})
	return &changes{waiting: make(map[*Listener]bool), over: over, end: sync.OnceFunc(func() { close(over) })}
}

// Listener is notified of changes of lists.
type Listener struct {
	Changed chan struct{}   // has one element after one or more changes
	Over    <-chan struct{} // closed when the server ends
	Close   func()

	subject any // whose it is, "" if there are no keys

	mu    sync.Mutex
	lists map[string]bool // that changed since the last Take
}

// Take returns the lists that changed since it was called last.
func (l *Listener) Take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lists := slices.Sorted(maps.Keys(l.lists))
	clear(l.lists)
	return lists
}

func (l *Listener) tell(lists []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, list := range lists {
		l.lists[list] = true
	}
	select {
	case l.Changed <- struct{}{}:
	default: // the previous change has not been received yet
	}
}

// ListChangedLine returns the notification that a list has changed, within a subscription or, with nil, outside one.
func ListChangedLine(list string, subscription json.RawMessage) []byte {
	fields := map[string]any{"method": "notifications/" + list + "/list_changed"}
	if subscription != nil {
		fields["params"] = map[string]any{"_meta": map[string]any{mcp.MetaKeySubscriptionID: subscription}}
	}
	return message(fields)
}

// listen returns a new listener of a subject, or nil if there are already maxListeners or the subject has its part of them.
func (c *changes) listen(subject any) *Listener {
	l := &Listener{Changed: make(chan struct{}, 1), Over: c.over, subject: subject, lists: map[string]bool{}}
	l.Close = func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waiting, l)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	mine := 0
	for other := range c.waiting {
		if other.subject == subject && subject != "" {
			mine++
		}
	}
	if len(c.waiting) >= maxListeners || mine >= maxListeners/EachPart {
		return nil
	}
	c.waiting[l] = true
	return l
}

// tell notifies every listener that lists have changed. It does not wait for them.
func (c *changes) tell(lists []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for l := range c.waiting {
		l.tell(lists)
	}
}
