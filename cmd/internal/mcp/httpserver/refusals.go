package httpserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// fault is the reason why a request is refused before its JSON-RPC message is read.
type fault struct {
	status        int
	code, message string
}

// guard returns the request with its caller, or the reason why it must not be served at all.
func (c Config) guard(r *http.Request) (*http.Request, *fault) {
	user := c.Access.TakeUser(r)
	if unguarded[r.URL.Path] && c.Access.Beyond() { // whoever looks after the server asks without a credential
		return r, nil
	}
	if why := c.Access.Foreign(r); why != "" {
		return r, &fault{http.StatusForbidden, "forbidden", why}
	}
	if user != "" {
		r = r.WithContext(agent.WithUser(r.Context(), user))
	}
	if c.Gate == nil || unguarded[r.URL.Path] || c.metadata(r.URL.Path) != nil {
		return r, nil
	}
	caller, err := c.Gate.Check(r.Context(), bearer(r))
	switch {
	case web.Unavailable(err): // nobody is admitted unasked
		return r, &fault{http.StatusServiceUnavailable, "unavailable", "the credentials of callers cannot be checked now"}
	case errors.Is(err, web.ErrScope):
		return r, &fault{http.StatusForbidden, "insufficient_scope", err.Error()}
	case err != nil:
		return r, &fault{http.StatusUnauthorized, "unauthorized", "want Authorization: Bearer with a token of this server"}
	}
	return r.WithContext(agent.WithSubject(context.WithValue(r.Context(), callerKey{}, caller), caller.Subject)), nil
}

// bearer returns the bearer token of a request, or "".
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// admits reports whether the credential of a request that was admitted is still good.
func (c Config) admits(r *http.Request) bool {
	if c.Gate == nil {
		return true
	}
	_, err := c.Gate.Check(r.Context(), bearer(r))
	return err == nil
}

// metadata returns the document at a path that says where OAuth clients get their tokens, or nil.
func (c Config) metadata(path string) []byte {
	if c.Gate == nil || c.Gate.OAuth == nil || !slices.Contains(c.Gate.OAuth.Paths(), path) {
		return nil
	}
	return c.Gate.OAuth.Metadata()
}

// callerKey is the context key of a request's caller.
type callerKey struct{}

// unguarded lists the paths that need no credential. They reveal only whether the server is running.
var unguarded = map[string]bool{"/healthz": true, "/readyz": true}

// turnAway answers a request that must not be served. Where callers need credentials, one without costs no machine and no record:
// anybody can send any number of them.
func (h *Handler) turnAway(w http.ResponseWriter, r *http.Request, f *fault) {
	if h.config.Gate == nil || f.code == "insufficient_scope" {
		h.config.refuse(w, r, f)
		return
	}
	h.stranger(f.message)
	h.config.reject(w, r, f)
}

// strangersEvery is the least time between two messages about requests that were not admitted.
const strangersEvery = 10 * time.Second

// stranger counts a request that was not admitted, and logs how many there were since the latest message.
func (h *Handler) stranger(why string) {
	s := &h.strangers
	s.Lock()
	defer s.Unlock()
	if s.count++; h.config.Emit == nil || time.Since(s.said) < strangersEvery {
		return
	}
	h.config.Emit(fsm.NewEvent("mcp_pruner.warning", "", fsm.Facts{"message": fmt.Sprintf("requests that were not admitted: %d; the latest: %s", s.count, why)}))
	s.count, s.said = 0, time.Now()
}

// refuse answers with a fault, and runs a machine for it, so that the log and the trace contain it.
func (c Config) refuse(w http.ResponseWriter, r *http.Request, f *fault) {
	c.note(r, f)
	c.reject(w, r, f)
}

// reject answers with a fault in the form used by all endpoints except the JSON-RPC ones.
func (c Config) reject(w http.ResponseWriter, r *http.Request, f *fault) {
	if c.Gate != nil {
		switch f.code {
		case "unauthorized":
			w.Header().Set("WWW-Authenticate", c.Gate.OAuth.Challenge(web.ErrUnknownCaller, bearer(r) != ""))
		case "insufficient_scope":
			w.Header().Set("WWW-Authenticate", c.Gate.OAuth.Challenge(web.ErrScope, true))
		}
	}
	problem(w, f)
}

// note runs a machine for a refused request. The recorded reason is the server's own text and contains
// neither the path nor the body of the request.
func (c Config) note(r *http.Request, f *fault) {
	if c.Server != nil {
		c.Server.Refused(r.Context(), fmt.Sprintf("%d %s: %s", f.status, f.code, f.message))
	}
}

// retryAfter is the number of seconds after which a request that cannot be served now is tried again.
const retryAfter = "2"

// problem writes a fault.
func problem(w http.ResponseWriter, f *fault) {
	if f.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", retryAfter)
	}
	type detail struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	writeJSON(w, f.status, struct {
		OK    bool   `json:"ok"`
		Error detail `json:"error"`
	}{false, detail{f.code, f.message}})
}

// refusedByHTTP records a request that net/http itself refused.
func (h *Handler) refusedByHTTP(why string) {
	switch {
	case h.config.Gate != nil: // whose it was is not known
		h.stranger(why)
	case h.config.Server != nil:
		h.config.Server.Refused(context.Background(), why)
	}
}

// complain logs net/http's message if a connection could not be accepted. It drops all others, such as the
// text of a handler's panic, which may reveal too much.
func (c Config) complain(line string) {
	if c.Emit != nil && strings.Contains(line, "Accept error") {
		c.Emit(fsm.NewEvent("mcp_pruner.accept_failed", "", fsm.Facts{"message": strings.TrimSpace(line)}))
	}
}
