package httpserver

import (
	"context"
	"crypto/subtle"
	"fmt"
	"net/http"
	"strings"

	"mcp-pruner/cmd/internal/loopback"
	"mcp-pruner/fsm/event"
)

// fault is a request that is turned down before JSON-RPC has a say.
type fault struct {
	status        int
	code, message string
}

// guard says what is wrong with a request that must not be served at all; nil:
// nothing.
func (h *Handler) guard(r *http.Request) *fault {
	if why := loopback.Foreign(r); why != "" {
		return &fault{http.StatusForbidden, "forbidden", why}
	}
	if h.config.Token == "" || withoutToken[r.URL.Path] {
		return nil
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare([]byte(strings.TrimSpace(token)), []byte(h.config.Token)) != 1 {
		return &fault{http.StatusUnauthorized, "unauthorized", "want Authorization: Bearer with the server's token"}
	}
	return nil
}

// withoutToken are the paths that need no token: who asks whether the server is there learns
// nothing else.
var withoutToken = map[string]bool{"/healthz": true}

// refuse answers with a fault, in the form of every endpoint but JSON-RPC's own, and
// gives it its machine, so that the log and the trace know of it.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, f *fault) {
	h.note(r, f)
	if f.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	problem(w, f)
}

// note gives a refused request its machine. What it says is the server's own words:
// neither path nor body of the request.
func (h *Handler) note(r *http.Request, f *fault) {
	if h.config.Server != nil {
		h.config.Server.Refused(r.Context(), fmt.Sprintf("%d %s: %s", f.status, f.code, f.message))
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

// refusedByHTTP notes what net/http refused itself.
func (h *Handler) refusedByHTTP(why string) {
	if h.config.Server != nil {
		h.config.Server.Refused(context.Background(), why)
	}
}

// complain logs what net/http has to say of connections. Of a handler's panic it says
// too much.
func (h *Handler) complain(line string) {
	if h.config.Emit != nil && strings.Contains(line, "Accept error") {
		h.config.Emit(event.New("mcp_pruner.accept_failed", "", event.Facts{"message": strings.TrimSpace(line)}))
	}
}
