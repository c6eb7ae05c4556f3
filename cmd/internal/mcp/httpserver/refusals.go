package httpserver

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/fsm/event"
)

// fault is the reason why a request is refused before its JSON-RPC message is read.
type fault struct {
	status        int
	code, message string
}

// guard returns the request with the owner of its key, or the reason why it must not be served at all.
func (c Config) guard(r *http.Request) (*http.Request, *fault) {
	if why := web.Foreign(r); why != "" {
		return r, &fault{http.StatusForbidden, "forbidden", why}
	}
	if c.Keys == nil || withoutToken[r.URL.Path] {
		return r, nil
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	owner, known, err := c.Keys.Owner(r.Context(), strings.TrimSpace(token))
	switch {
	case err != nil: // nobody is admitted unasked
		return r, &fault{http.StatusServiceUnavailable, "unavailable", "the keys of callers cannot be read now"}
	case !known || !strings.EqualFold(scheme, "Bearer"):
		return r, &fault{http.StatusUnauthorized, "unauthorized", "want Authorization: Bearer with the server's token"}
	}
	return r.WithContext(context.WithValue(r.Context(), ownerKey{}, owner)), nil
}

// ownerKey is the key of the name of the key's owner in a request's context.
type ownerKey struct{}

// withoutToken lists the paths that require no token. They reveal only that the server is running.
var withoutToken = map[string]bool{"/healthz": true}

// refuse answers with a fault in the form used by all endpoints except the JSON-RPC ones, and runs a
// machine for it, so that the log and the trace contain it.
func (c Config) refuse(w http.ResponseWriter, r *http.Request, f *fault) {
	c.note(r, f)
	if f.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
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

// problem writes a fault.
func problem(w http.ResponseWriter, f *fault) {
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
func (c Config) refusedByHTTP(why string) {
	if c.Server != nil {
		c.Server.Refused(context.Background(), why)
	}
}

// complain logs net/http's message if a connection could not be accepted. It drops all others, such as the
// text of a handler's panic, which may reveal too much.
func (c Config) complain(line string) {
	if c.Emit != nil && strings.Contains(line, "Accept error") {
		c.Emit(event.New("mcp_pruner.accept_failed", "", event.Facts{"message": strings.TrimSpace(line)}))
	}
}
