package httpserver

import (
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// mcpOrStream serves /mcp of a server whose list of tools may change.
func (h *Handler) mcpOrStream(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet:
		h.stream(w, r)
	case http.MethodDelete:
		h.end(w, r)
	default:
		h.mcp(w, r)
	}
}

// end ends a session for its client, at every replica.
func (h *Handler) end(w http.ResponseWriter, r *http.Request) {
	session, f := h.sessionOf(r)
	if f == nil && session.IsAlone() {
		f = &fault{http.StatusBadRequest, "session_required", "name the session to end in Mcp-Session-Id"}
	}
	if f != nil {
		h.config.refuse(w, r, f)
		return
	}
	id := r.Header.Get(mcp.HeaderSessionID)
	h.sessions.end(id)
	h.config.Server.End(session)
	h.announce(r.Context(), endTopic, id, agent.SubjectOf(r.Context()), nil)
	w.WriteHeader(http.StatusNoContent)
}

// stream notifies a session's client of changes of lists, as long as the client listens, and of what other servers send
// it outside of calls. Protocol 2026-07-28 uses subscriptions instead.
func (h *Handler) stream(w http.ResponseWriter, r *http.Request) {
	x := &exchange{w: w, r: r, within: h.config.WriteWithin, server: h.config.Server}
	session, f := h.checkStream(x)
	var l *mcpserver.Listener
	if f == nil {
		if l = h.config.Server.Listen(session); l == nil {
			f = &fault{http.StatusServiceUnavailable, "too_many_streams", "too many clients listen already"}
		}
	}
	if f != nil {
		h.config.refuse(w, r, f)
		return
	}
	defer l.Close()
	defer x.finish()
	defer session.Attach(x.notify)()
	alive := time.NewTicker(aliveEvery)
	defer alive.Stop()
	for x.send(aliveLine); x.broken() == nil; {
		select {
		case <-l.Changed:
			for _, list := range l.Take() {
				x.notify(mcpserver.ListChangedLine(list, nil))
			}
		case <-alive.C:
			if !h.config.admits(r) {
				return // the credential expired or was revoked: the client shows a new one
			}
			x.send(aliveLine)
		case <-l.Over:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// checkStream returns the session of a client that wants to listen, or the reason why it cannot.
func (h *Handler) checkStream(x *exchange) (*mcpserver.Session, *fault) {
	if x.notifier() == nil {
		return nil, streamNotAccepted
	}
	if mcp.IsModernProtocol(x.r.Header.Get(mcp.HeaderProtocolVersion)) {
		x.w.Header().Set("Allow", http.MethodPost)
		return nil, &fault{http.StatusMethodNotAllowed, "method_not_allowed", "want POST subscriptions/listen in this protocol version"}
	}
	session, f := h.sessionOf(x.r)
	if f == nil && session.IsAlone() {
		f = &fault{http.StatusBadRequest, "session_required", "a stream is a session's: send Mcp-Session-Id"}
	}
	return session, f
}
