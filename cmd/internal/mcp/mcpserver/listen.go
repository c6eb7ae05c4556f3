package mcpserver

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-pruner/mcp-pruner/states"
)

// Changes reports whether the list of tools may change while the server runs.
func (s *Server) Changes() bool { return s.config.List != nil && !s.config.form.Plain }

// Listen returns a new listener for changes of the list of tools, or nil if there are too many.
func (s *Server) Listen() *Listener { return s.changes.listen() }

// ListChanged notifies every listener that its list of tools has changed. It does not wait for them.
func (s *Server) ListChanged() { s.changes.tell() }

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
