package mcpserver

import (
	"encoding/json"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// maxListeners is the largest number of clients that can wait for changes at once.
const maxListeners = 1024

// changes holds the listeners for changes of the list of tools.
type changes struct {
	mu      sync.Mutex
	waiting map[chan struct{}]bool
	over    chan struct{} // closed when the server ends
	end     func()
}

func newChanges() *changes {
	over := make(chan struct{})
	return &changes{waiting: make(map[chan struct{}]bool), over: over, end: sync.OnceFunc(func() { close(over) })}
}

// Listener is notified of changes of the list of tools.
type Listener struct {
	Changed <-chan struct{} // has one element after one or more changes
	Over    <-chan struct{} // closed when the server ends
	Close   func()
}

// ListChangedLine returns the notification of a change, within a subscription or, with nil, outside one.
func ListChangedLine(subscription json.RawMessage) []byte {
	fields := map[string]any{"method": mcp.MethodNotificationToolsListChanged}
	if subscription != nil {
		fields["params"] = map[string]any{"_meta": map[string]any{mcp.MetaKeySubscriptionID: subscription}}
	}
	return message(fields)
}

// listen returns a new listener, or nil if there are already maxListeners.
func (c *changes) listen() *Listener {
	changed := make(chan struct{}, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) >= maxListeners {
		return nil
	}
	c.waiting[changed] = true
	return &Listener{Changed: changed, Over: c.over, Close: func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waiting, changed)
	}}
}

// tell notifies every listener that its list of tools has changed. It does not wait for them.
func (c *changes) tell() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for changed := range c.waiting {
		select {
		case changed <- struct{}{}:
		default: // the previous change has not been received yet
		}
	}
}
