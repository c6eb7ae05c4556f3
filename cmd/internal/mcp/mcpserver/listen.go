package mcpserver

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-pruner/mcp-pruner/states"
)

// Changes reports whether the list of tools may change while the server runs.
func (s *Server) Changes() bool { return s.config.List != nil && !s.config.form.Plain }

// Listen returns a new listener of a session for changes of lists, or nil if there are too many.
func (s *Server) Listen(session *Session) *Listener { return s.changes.listen(session.group("")) }

// ListChanged notifies every listener that lists have changed. It does not wait for them.
func (s *Server) ListChanged(lists ...string) { s.changes.tell(lists) }

// StopListening ends every subscription. It is called before the server ends.
func (s *Server) StopListening() { s.changes.end() }

// Tell sends the session's client a notification for each change, once it is initialized, until ctx ends. The session's
// Notify must be set.
func (s *Server) Tell(ctx context.Context, session *Session) {
	l := s.Listen(session)
	if l == nil {
		return
	}
	defer l.Close()
	for !session.initialized(ctx) { // changes until then are kept
		if ctx.Err() != nil {
			return
		}
	}
	for {
		select {
		case <-l.Changed:
			for _, list := range l.Take() {
				session.Notify(ListChangedLine(list, nil))
			}
		case <-l.Over:
			return
		case <-ctx.Done():
			return
		}
	}
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
	l := s.Listen(session)
	if l == nil || notify == nil {
		return Reply{body: encodeError(m.ID, codeInternalError, nil)}
	}
	defer l.Close()
	granted := s.grant(p)
	if end := s.watch(ctx, session, m, notify, &granted); end != nil {
		defer end()
	}
	notify(message(map[string]any{"method": mcp.MethodNotificationSubscriptionsAcknowledged, "params": map[string]any{
		"_meta": map[string]any{mcp.MetaKeySubscriptionID: m.ID}, "notifications": granted,
	}}))
	if s.forward(ctx, l, m, notify, granted) {
		return Reply{} // the client cancelled the subscription and expects no answer
	}
	body, err := encodeResult(m.ID, map[string]any{
		"resultType": mcp.ResultTypeComplete,
		"_meta":      map[string]any{mcp.MetaKeySubscriptionID: m.ID, serverInfoKey: s.implementation()},
	})
	return Reply{body: body, err: err}
}

// grant returns the changes that a subscription asks for and that exist here.
func (s *Server) grant(p params) mcp.SubscriptionFilter {
	wanted, _ := p.object["notifications"].(map[string]any)
	more := s.config.Features != nil
	granted := mcp.SubscriptionFilter{
		ToolsListChanged:     wanted["toolsListChanged"] == true,
		PromptsListChanged:   more && wanted["promptsListChanged"] == true,
		ResourcesListChanged: more && wanted["resourcesListChanged"] == true,
	}
	uris, _ := wanted["resourceSubscriptions"].([]any)
	for _, value := range uris[:min(len(uris), maxWatched)] {
		if uri, ok := value.(string); ok && more {
			granted.ResourceSubscriptions = append(granted.ResourceSubscriptions, uri)
		}
	}
	return granted
}

// maxWatched is the largest number of resources that one subscription watches.
const maxWatched = 1000

// watch sends updates of the resources that a subscription names, and leaves those that are watched in granted.
func (s *Server) watch(ctx context.Context, session *Session, m Message, notify func([]byte), granted *mcp.SubscriptionFilter) (end func()) {
	if len(granted.ResourceSubscriptions) == 0 {
		return nil
	}
	granted.ResourceSubscriptions, end = s.config.Features.Watch(ctx, callerOf(session, m), granted.ResourceSubscriptions, func(uri string) {
		notify(message(map[string]any{"method": mcp.MethodNotificationResourceUpdated, "params": map[string]any{
			"uri": uri, "_meta": map[string]any{mcp.MetaKeySubscriptionID: m.ID},
		}}))
	})
	return end
}

// forward sends the granted changes until the server ends or the client cancels the subscription, and reports whether
// the client did.
func (s *Server) forward(ctx context.Context, l *Listener, m Message, notify func([]byte), granted mcp.SubscriptionFilter) (cancelled bool) {
	if granted.IsEmpty() {
		return false
	}
	lists := map[string]bool{ToolsList: granted.ToolsListChanged, PromptsList: granted.PromptsListChanged, ResourcesList: granted.ResourcesListChanged}
	for {
		select {
		case <-l.Changed:
			for _, list := range l.Take() {
				if lists[list] {
					notify(ListChangedLine(list, m.ID))
				}
			}
		case <-l.Over:
			return false
		case <-ctx.Done():
			return true
		}
	}
}

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
