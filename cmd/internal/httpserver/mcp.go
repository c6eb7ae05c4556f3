package httpserver

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"mcp-pruner/cmd/internal/mcpserver"
)

// fault is a request that is turned down before JSON-RPC has a say.
type fault struct {
	status        int
	code, message string
}

func (f *fault) write(w http.ResponseWriter) { refuse(w, f.status, f.code, f.message) }

// mcp answers one JSON-RPC message.
func (h *Handler) mcp(w http.ResponseWriter, r *http.Request) {
	if f := checkHeaders(r); f != nil {
		f.write(w)
		return
	}
	body, f := h.body(w, r)
	if f != nil {
		f.write(w)
		return
	}
	m := mcpserver.Parse(body)
	session, f := h.session(r, m)
	if f != nil {
		f.write(w)
		return
	}
	h.answer(&exchange{w: w, r: r, within: h.config.WriteWithin}, session, m)
}

// checkHeaders wants JSON, which a form on a web page cannot send and a script
// there only after asking. What comes back is JSON too.
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

// accepts says whether a media type is among what Accept lists.
func accepts(accept []string, media string) bool {
	family, _, _ := strings.Cut(media, "/")
	for _, item := range strings.Split(strings.Join(accept, ","), ",") {
		name, params, _ := mime.ParseMediaType(item)
		if params["q"] == "0" {
			continue
		}
		switch name {
		case media, family + "/*", "*/*":
			return true
		}
	}
	return false
}

// body reads the request's body. It has its own time: a body that trickles in
// must not hold a connection for ever. Afterwards there is no limit, or a call
// that takes longer would look like a client that hung up.
func (h *Handler) body(w http.ResponseWriter, r *http.Request) ([]byte, *fault) {
	tooLarge := &fault{http.StatusRequestEntityTooLarge, "payload_too_large", "the body is larger than 32 MiB"}
	if r.ContentLength > mcpserver.MaxMessageBytes {
		w.Header().Set("Connection", "close")
		h.tooLarge(r)
		return nil, tooLarge
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(h.config.BodyWithin)) // no connection, no deadline
	body, err := readAll(http.MaxBytesReader(w, r.Body, mcpserver.MaxMessageBytes), r.ContentLength)
	_ = control.SetReadDeadline(time.Time{})
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		h.tooLarge(r)
		return nil, tooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		return nil, &fault{http.StatusRequestTimeout, "request_timeout", "the body took too long"}
	case err != nil:
		return nil, &fault{http.StatusBadRequest, "bad_request", "the body ended early"}
	}
	return body, nil
}

// readAll reads a body into memory that grows with what has really arrived,
// unless it is said to be small.
func readAll(body io.Reader, length int64) ([]byte, error) {
	const small = 64 << 10
	if length < 0 || length > small {
		return io.ReadAll(body)
	}
	b := make([]byte, length)
	_, err := io.ReadFull(body, b)
	return b, err
}

// tooLarge gives a message that is not even read its machine, so that the log and
// the trace know of it.
func (h *Handler) tooLarge(r *http.Request) {
	reply := h.config.Server.Answer(r.Context(), mcpserver.Alone(), mcpserver.TooLong())
	reply.Call().Answering(0) // its text is JSON-RPC's, of which nothing is sent; the status says it here
}

// session finds whose message it is. initialize begins a session; a message
// without one stands alone.
func (h *Handler) session(r *http.Request, m mcpserver.Message) (*mcpserver.Session, *fault) {
	if m.Method == "initialize" {
		return mcpserver.NewSession(""), nil
	}
	if v := r.Header.Get(mcp.HeaderProtocolVersion); v != "" && !mcp.IsValidProtocolVersion(v) {
		return nil, &fault{http.StatusBadRequest, "unsupported_protocol_version",
			"MCP-Protocol-Version is none of " + strings.Join(mcp.ValidProtocolVersions, ", ")}
	}
	id := r.Header.Get(mcp.HeaderSessionID)
	if id == "" {
		return mcpserver.Alone(), nil
	}
	session, ok := h.sessions.find(id)
	if !ok {
		return nil, &fault{http.StatusNotFound, "session_not_found", "Mcp-Session-Id is none of this server's: initialize anew"}
	}
	return session, nil
}

// answer answers a message and tells its machine how that went.
func (h *Handler) answer(x *exchange, session *mcpserver.Session, m mcpserver.Message) {
	ctx := x.r.Context()
	if m.IsCall() {
		var end func()
		ctx, end = session.Start(ctx, m)
		defer end()
		m.Notify = x.notifier()
	}
	reply := h.config.Server.Answer(ctx, session, m)
	body, err := reply.Begin(ctx)
	switch {
	case err != nil, body == nil && x.r.Context().Err() != nil: // the connection has to end, or is about to
		panic(http.ErrAbortHandler)
	case body == nil: // a notification, or a call that its client cancelled
		x.accept()
		return
	}
	if m.Method == "initialize" && session.Opened() {
		x.w.Header().Set(mcp.HeaderSessionID, h.sessions.add(session))
	}
	if err := x.answer(body); err != nil {
		reply.Failed(ctx, err)
		panic(http.ErrAbortHandler)
	}
	reply.Written(ctx)
}
