package httpserver

import (
	"context"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// mcp answers one JSON-RPC message.
func (h *Handler) mcp(w http.ResponseWriter, r *http.Request) {
	if f := checkHeaders(r); f != nil {
		h.config.refuse(w, r, f)
		return
	}
	h.receive(w, r, func(body []byte) {
		h.message(w, r, mcpserver.Parse(body))
	}, func(f *fault) { h.config.refuse(w, r, f) })
}

// message answers a parsed message.
func (h *Handler) message(w http.ResponseWriter, r *http.Request, m mcpserver.Message) {
	x := &exchange{w: w, r: r, within: h.config.WriteWithin, server: h.config.Server}
	defer x.finish()
	var bad *mcpserver.Refusal
	x.modern, bad = checkModern(r, m)
	if bad == nil && x.modern {
		bad = checkParamHeaders(h.config.Server, r, m)
	}
	if bad != nil {
		h.reply(x, h.config.Server.Refuse(r.Context(), alone(r), m, bad))
		return
	}
	session, f := h.session(r, m, x.modern)
	if f == nil && session.IsAlone() && m.Cancels() && !x.modern {
		f = &fault{http.StatusBadRequest, "session_required", "a cancel without Mcp-Session-Id is nobody's"}
	}
	if f != nil {
		h.config.refuse(w, r, f)
		return
	}
	if m.Listens() && x.notifier() == nil {
		h.config.refuse(w, r, streamNotAccepted)
		return
	}
	h.answer(x, session, m)
}

// checkHeaders requires a JSON body. A form on a web page cannot send one, and a script needs a CORS
// preflight for it. It also requires that the client accepts JSON.
func checkHeaders(r *http.Request) *fault {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return &fault{http.StatusUnsupportedMediaType, "unsupported_media_type", "want Content-Type: application/json"}
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return &fault{http.StatusUnsupportedMediaType, "unsupported_media_type", "want no Content-Encoding"}
	}
	if accept := r.Header.Values("Accept"); len(accept) > 0 && !accepts(accept, "application/json") {
		return &fault{http.StatusNotAcceptable, "not_acceptable", "answers are application/json"}
	}
	return nil
}

// session returns the session of a message. initialize starts a session. A message without a session stands
// alone, as all messages of the newer protocols do.
func (h *Handler) session(r *http.Request, m mcpserver.Message, modern bool) (*mcpserver.Session, *fault) {
	switch {
	case modern:
		return alone(r), nil
	case m.Method == "initialize":
		session := mcpserver.NewSession("")
		owns(r, session)
		return session, nil
	}
	return h.sessionOf(r)
}

// connKey is the key of a request's connection in its context.
type connKey struct{}

// origin is what is known of clients without a session and a key: their address, and the user that a reverse proxy named.
type origin struct{ address, user string }

// alone returns the session of a message that belongs to none.
func alone(r *http.Request) *mcpserver.Session {
	address, _, _ := net.SplitHostPort(r.RemoteAddr)
	session := mcpserver.AloneOn(r.Context().Value(connKey{}), origin{address, agent.UserOf(r.Context())})
	owns(r, session)
	return session
}

// owns reports whether a session belongs to a request's subject. A new session becomes the subject's.
func owns(r *http.Request, session *mcpserver.Session) bool {
	caller, known := r.Context().Value(callerKey{}).(web.Caller)
	return !known || session.Claim(caller.Subject)
}

// sessionOf returns the session that a request's headers name.
func (h *Handler) sessionOf(r *http.Request) (*mcpserver.Session, *fault) {
	// A missing header means 2025-03-26, so the header with that version is accepted, too. Except for
	// batches, messages of that version equal those of the next.
	if v := r.Header.Get(mcp.HeaderProtocolVersion); v != "" && v != mcp.ProtocolVersion20250326 && !slices.Contains(mcpserver.Versions, v) {
		return nil, &fault{http.StatusBadRequest, "unsupported_protocol_version",
			"MCP-Protocol-Version is none of " + strings.Join(mcpserver.Versions, ", ")}
	}
	id := r.Header.Get(mcp.HeaderSessionID)
	if id == "" {
		return alone(r), nil
	}
	session, f := h.sessions.find(id, agent.SubjectOf(r.Context()))
	if f == nil && !owns(r, session) {
		return nil, sessionNotFound
	}
	return session, f
}

// answer answers a message and reports to its machine whether the answer was written.
func (h *Handler) answer(x *exchange, session *mcpserver.Session, m mcpserver.Message) {
	ctx := x.r.Context()
	if m.TakesLong() {
		var end func()
		ctx, end = session.Start(ctx, m)
		defer end()
		m.Notify = x.notifier()
		if m.Listens() {
			defer x.keepAlive(h.config.admits, end)()
		}
	}
	here := m.Cancels() && session.Knows(m) // asked before the call ends
	reply := x.server.Answer(ctx, session, m)
	if f := h.pass(ctx, x.r.Header.Get(mcp.HeaderSessionID), agent.SubjectOf(ctx), m, here || reply.Told()); f != nil {
		h.config.refuse(x.w, x.r, f)
		return
	}
	if m.Method == "initialize" && session.Opened() {
		if id := h.sessions.add(session, agent.SubjectOf(ctx)); id != "" {
			x.w.Header().Set(mcp.HeaderSessionID, id)
		}
	}
	if dropped := h.replyIn(ctx, x, reply); dropped > 0 {
		h.reply(x, x.server.Refuse(ctx, session, m, mcpserver.Unread(dropped)))
	}
}

func (h *Handler) reply(x *exchange, reply mcpserver.Reply) { h.replyIn(x.r.Context(), x, reply) }

// replyIn writes an answer unless the call's context has ended. It returns the size of one that found no room and was dropped.
func (h *Handler) replyIn(ctx context.Context, x *exchange, reply mcpserver.Reply) (dropped int) {
	body, err := reply.Begin(ctx)
	switch {
	case err != nil, body == nil && x.r.Context().Err() != nil: // the connection must be closed, or is about to be
		panic(http.ErrAbortHandler)
	case body == nil: // a notification, or a call that its client cancelled
		x.accept()
		return 0
	}
	held := h.answers.Hold(agent.SubjectOf(ctx))
	defer held.Release()
	if err := held.Keep(ctx, len(body)); err != nil {
		reply.Failed(ctx, err)
		return len(body)
	}
	if x.modern {
		x.status = statusOf(true, reply.Code())
	}
	if err := x.answer(body); err != nil {
		reply.Failed(ctx, err)
		panic(http.ErrAbortHandler)
	}
	reply.Written(ctx)
	return 0
}
