package proxy

import (
	"context"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/fsm/event"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// peerKey is the context key of the error about a connection's other end.
type peerKey struct{}

// withPeer records in a connection's context whether another user is at its other end.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	if uid, ok := peerUser(c); ok && uid != os.Getuid() {
		return context.WithValue(ctx, peerKey{}, true)
	}
	return ctx
}

// admit answers requests that do not come from the user whose keys and ledger these are. It takes the secret out of the
// others. On a machine with several users each of them can reach 127.0.0.1.
func (s *server) admit(w http.ResponseWriter, r *http.Request) bool {
	reason, message := "", ""
	switch {
	case web.Foreign(r) != "":
		reason, message = "foreign", web.Foreign(r)
	case r.Context().Value(peerKey{}) != nil:
		reason, message = "other_user", "this proxy belongs to another user of the machine; start one of your own"
	case !s.secret.Take(r):
		reason, message = "no_secret", "the secret is missing or wrong. It belongs into the header "+secret.Header+
			" or before /v1 in the base URL; the first line of the proxy's log names the file with that URL, and docs/GC.md says more"
	default:
		return true
	}
	if s.refusals.first(reason) {
		s.emit(event.New("proxy.refused", "", event.Facts{"reason": reason, "message": message}))
	}
	r.URL.Path = "" // what was not admitted may hold a part of the secret
	refuse(w, r, http.StatusForbidden, message)
	return false
}

// refusals remembers when each reason was logged, so that nobody can fill the log.
type refusals struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// first reports whether a reason was not logged in the last minute.
func (f *refusals) first(reason string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t, ok := f.last[reason]; ok && time.Since(t) < time.Minute {
		return false
	}
	if f.last == nil {
		f.last = make(map[string]time.Time)
	}
	f.last[reason] = time.Now()
	return true
}

// refuse answers a request with an error of the proxy's own, in the form of the API that the request is for.
func refuse(w http.ResponseWriter, r *http.Request, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(wire.Refusal(r, status, "mcp-pruner proxy: "+message))
}
