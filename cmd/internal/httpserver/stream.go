package httpserver

import (
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"mcp-pruner/cmd/internal/mcpserver"
)

// aliveEvery is how often a stream without news is written to: clients take one that is
// silent for minutes to be broken, and a client that is gone is noticed.
const aliveEvery = 30 * time.Second

var streamNotAccepted = &fault{http.StatusNotAcceptable, "not_acceptable", "what a client listens to is text/event-stream"}

// mcpOrStream is /mcp of a server whose list of tools may change.
func (h *Handler) mcpOrStream(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		h.stream(w, r)
		return
	}
	h.mcp(w, r)
}

// stream tells the client of a session that its list of tools has changed, for as long as
// it listens. Protocol 2026-07-28 has subscriptions instead.
func (h *Handler) stream(w http.ResponseWriter, r *http.Request) {
	x := &exchange{w: w, r: r, within: h.config.WriteWithin, server: h.config.Server}
	f := h.checkStream(x)
	var l *mcpserver.Listener
	if f == nil {
		if l = h.config.Server.Listen(); l == nil {
			f = &fault{http.StatusServiceUnavailable, "too_many_streams", "too many clients listen already"}
		}
	}
	if f != nil {
		h.refuse(w, r, f)
		return
	}
	defer l.Close()
	alive := time.NewTicker(aliveEvery)
	defer alive.Stop()
	for x.send(aliveLine); x.broken() == nil; {
		select {
		case <-l.Changed:
			x.notify(mcpserver.ListChangedLine(nil))
		case <-alive.C:
			x.send(aliveLine)
		case <-l.Over:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// checkStream says why a client cannot listen; nil: it can.
func (h *Handler) checkStream(x *exchange) *fault {
	if x.notifier() == nil {
		return streamNotAccepted
	}
	if mcp.IsModernProtocol(x.r.Header.Get(mcp.HeaderProtocolVersion)) {
		x.w.Header().Set("Allow", http.MethodPost)
		return &fault{http.StatusMethodNotAllowed, "method_not_allowed", "want POST subscriptions/listen in this protocol version"}
	}
	session, f := h.sessionOf(x.r)
	if f == nil && session.IsAlone() {
		f = &fault{http.StatusBadRequest, "session_required", "a stream is a session's: send Mcp-Session-Id"}
	}
	return f
}

// aliveLine is a comment in a stream of events.
var aliveLine = []byte(": alive\n\n")

// keepAlive writes to a stream that has begun, now and then, until stop is called. gone is
// called when the client takes nothing any more.
func (x *exchange) keepAlive(gone func()) (stop func()) {
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		alive := time.NewTicker(aliveEvery)
		defer alive.Stop()
		for {
			select {
			case <-ended:
				return
			case <-alive.C:
			}
			if x.send(aliveLine); x.broken() != nil {
				gone()
				return
			}
		}
	}()
	return func() {
		close(ended)
		<-done
	}
}

// broken is why the stream cannot be written to; nil: it can, as far as is known.
func (x *exchange) broken() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.lost
}
