package mcpserver

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-pruner/mcp-pruner/states"
)

// methodListen opens a subscription in protocol 2026-07-28 and later.
const methodListen = "subscriptions/listen"

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

// Changes reports whether the list of tools may change while the server runs.
func (s *Server) Changes() bool { return s.config.List != nil && !s.config.form.Plain }

// Listen returns a new listener, or nil if there are already maxListeners.
func (s *Server) Listen() *Listener {
	c := s.changes
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

// ListChanged notifies every listener that its list of tools has changed. It does not wait for them.
func (s *Server) ListChanged() {
	s.changes.mu.Lock()
	defer s.changes.mu.Unlock()
	for changed := range s.changes.waiting {
		select {
		case changed <- struct{}{}:
		default: // the previous change has not been received yet
		}
	}
}

// StopListening ends every subscription. It is called before the server ends.
func (s *Server) StopListening() { s.changes.end() }

// Tell sends the session's client a notification for each change until ctx ends. The session's Notify must
// be set.
func (s *Server) Tell(ctx context.Context, session *Session) {
	l := s.Listen()
	if l == nil {
		return
	}
	defer l.Close()
	for {
		select {
		case <-l.Changed:
			if session.Opened() {
				session.Notify(ListChangedLine(nil))
			}
		case <-l.Over:
			return
		case <-ctx.Done():
			return
		}
	}
}

// ListChangedLine returns the notification of a change, within a subscription or, with nil, outside one.
func ListChangedLine(subscription json.RawMessage) []byte {
	fields := map[string]any{"method": mcp.MethodNotificationToolsListChanged}
	if subscription != nil {
		fields["params"] = map[string]any{"_meta": map[string]any{mcp.MetaKeySubscriptionID: subscription}}
	}
	return message(fields)
}

// listen serves a subscription: it acknowledges the granted notifications, then sends changes until the
// client cancels or the server ends. Its reply tells the client that the subscription has ended.
func (s *Server) listen(ctx context.Context, session *Session, m Message) Reply {
	p := m.params()
	if bad := CheckVersion(p.version()); bad != nil {
		return s.Refuse(ctx, session, m, bad)
	}
	if issues := checkListen(p); len(issues) > 0 {
		return Reply{body: s.encodeIssues(s.asked(session, m, p), issues)}
	}
	notify := m.Notify
	if notify == nil {
		notify = session.Notify
	}
	l := s.Listen()
	if l == nil || notify == nil {
		return Reply{body: encodeError(m.ID, codeInternalError, nil)}
	}
	defer l.Close()
	wanted, _ := p.object["notifications"].(map[string]any)
	granted := mcp.SubscriptionFilter{ToolsListChanged: wanted["toolsListChanged"] == true}
	notify(message(map[string]any{"method": mcp.MethodNotificationSubscriptionsAcknowledged, "params": map[string]any{
		"_meta": map[string]any{mcp.MetaKeySubscriptionID: m.ID}, "notifications": granted,
	}}))
	for open := granted.ToolsListChanged; open; {
		select {
		case <-l.Changed:
			notify(ListChangedLine(m.ID))
		case <-l.Over:
			open = false
		case <-ctx.Done(): // the client cancelled the subscription and expects no answer
			return Reply{}
		}
	}
	body, err := encodeResult(m.ID, map[string]any{
		"resultType": mcp.ResultTypeComplete,
		"_meta":      map[string]any{mcp.MetaKeySubscriptionID: m.ID, serverInfoKey: s.implementation()},
	})
	return Reply{body: body, err: err}
}

// checkListen checks the params of subscriptions/listen.
func checkListen(p params) []states.Issue {
	issues := checkPlain(p)
	wanted, ok := p.object["notifications"].(map[string]any)
	if !ok {
		issues = append(issues, states.NewIssue("notifications", "invalid_type"))
	}
	for _, name := range []string{"toolsListChanged", "promptsListChanged", "resourcesListChanged"} {
		value, has := wanted[name]
		if _, ok := value.(bool); has && !ok {
			issues = append(issues, states.NewIssue("notifications."+name, "invalid_type"))
		}
	}
	return states.SortIssues(issues)
}
