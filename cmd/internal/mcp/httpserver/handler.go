// Package httpserver serves MCP over HTTP: POST /mcp with plain JSON answers, and GET /healthz. It uses the
// same server as the transport over standard streams.
package httpserver

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
)

// Handler answers HTTP requests.
type Handler struct {
	config    Config
	started   time.Time
	sessions  *sessions
	bodies    *web.Budget
	answers   *web.Budget
	endpoints map[string]endpoint
	draining  atomic.Bool // the server ends: requests are to go to another replica
	strangers struct {    // requests that were not admitted
		sync.Mutex
		count int // since the latest message
		said  time.Time
	}
}

// endpoint is the handler of one path.
type endpoint struct {
	allow []string // methods
	serve http.HandlerFunc
}

// Server returns the server behind POST /mcp.
func (h *Handler) Server() *mcpserver.Server { return h.config.Server }

// ServeHTTP routes by the exact path. http.ServeMux would answer an unclean path with a redirect.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer internalError(w)
	r, f := h.config.guard(r)
	if f != nil {
		h.turnAway(w, r, f)
		return
	}
	e, ok := h.endpoints[r.URL.Path]
	switch {
	case !ok:
		h.config.refuse(w, r, &fault{http.StatusNotFound, "not_found", "there is " + h.paths()})
	case !slices.Contains(e.allow, r.Method):
		allow := strings.Join(e.allow, ", ")
		w.Header().Set("Allow", allow)
		h.config.refuse(w, r, &fault{http.StatusMethodNotAllowed, "method_not_allowed", "want " + allow})
	default:
		e.serve(w, r)
	}
}

// paths lists the existing endpoints.
func (h *Handler) paths() string {
	return strings.Join(slices.Sorted(maps.Keys(h.endpoints)), " and ")
}

// internalError answers after a panic without revealing its text. It re-panics http.ErrAbortHandler, which
// ends a connection.
func internalError(w http.ResponseWriter) {
	switch v := recover(); v {
	case nil:
	case http.ErrAbortHandler:
		panic(v)
	default:
		problem(w, &fault{http.StatusInternalServerError, "internal_error", "Internal error"})
	}
}

// health reports that the server is running, and whether it can use its database, which it does not name: anybody may ask.
func (h *Handler) health(w http.ResponseWriter, r *http.Request) {
	type server struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	type clock struct {
		StartedAt string `json:"started_at"`
		UptimeMS  int64  `json:"uptime_ms"`
	}
	status, message := "ok", ""
	if ask := h.config.Database; ask != nil && ask(r.Context()) != nil {
		status, message = "passing", "the database cannot be used: results come whole, and nothing is recovered"
	}
	writeJSON(w, http.StatusOK, struct {
		OK      bool   `json:"ok"`
		Status  string `json:"status"`
		Message string `json:"message,omitempty"`
		Server  server `json:"server"`
		Time    clock  `json:"time"`
	}{true, status, message, server{mcpserver.Name, h.config.Version}, clock{
		h.started.UTC().Format("2006-01-02T15:04:05.000Z07:00"), time.Since(h.started).Milliseconds(),
	}})
}

// ready reports whether the server can serve requests now: it does not end, and callers can be admitted.
func (h *Handler) ready(w http.ResponseWriter, r *http.Request) {
	switch {
	case h.draining.Load():
		problem(w, &fault{http.StatusServiceUnavailable, "draining", "the server finishes its last requests"})
	case h.config.Gate != nil && h.config.Gate.Ready(r.Context()) != nil:
		problem(w, &fault{http.StatusServiceUnavailable, "unavailable", "the credentials of callers cannot be checked now"})
	default:
		writeJSON(w, http.StatusOK, map[string]bool{"ok": true})
	}
}

// metadata tells OAuth clients where they get their tokens.
func (h *Handler) metadata(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusOK, json.RawMessage(h.config.metadata(r.URL.Path)))
}
