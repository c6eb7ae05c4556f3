package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// peerKey is the context key of what asks whether another user is at a connection's other end.
type peerKey struct{}

// withPeer lets a connection's requests ask that. The answer is in a table of all connections of the machine, so that it is not looked
// up for one that only takes a place: whoever opens thousands would stop everybody.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, peerKey{}, sync.OnceValue(func() bool { uid, ok := peerUser(c); return ok && uid != os.Getuid() }))
}

func fromOther(r *http.Request) bool {
	other, known := r.Context().Value(peerKey{}).(func() bool)
	return known && other()
}

// admit returns a request with its subject and without what admitted it, or answers it. On loopback a request has to come
// from the user whose keys and ledger these are: on a machine with several users each of them can reach 127.0.0.1. With
// a gate the credential of the caller counts instead.
func (s *server) admit(w http.ResponseWriter, r *http.Request) (admitted *http.Request, ok bool) {
	credential := takeKey(r)
	user := s.access.TakeUser(r)
	status, reason, message := http.StatusForbidden, "", ""
	switch {
	case s.access.Foreign(r) != "":
		reason, message = "foreign", s.access.Foreign(r)
	case s.gate != nil:
		r.Header.Del(secret.Header)
		var caller web.Caller
		if caller, status, reason, message = s.check(r, credential); reason == "" {
			return r.WithContext(agent.WithUser(agent.WithSubject(r.Context(), caller.Subject), user)), true
		}
	case s.prover.admits(r) && !fromOther(r):
		return r, true
	case !s.secret.Take(r):
		reason, message = "no_secret", "the secret is missing or wrong. It belongs into the header "+secret.Header+
			", of a gateway into the bearer token, or before /v1 in the base URL; the first line of the proxy's log names the file with that URL, and docs/GC.md says more"
	case fromOther(r):
		reason, message = "other_user", "this proxy belongs to another user of the machine; start one of your own"
	case misplaced(r, func(text string) bool { return secret.In([]byte(text)) }):
		reason, message = "misplaced_secret", "a secret of this proxy is where it would reach the provider. It belongs into the header "+secret.Header+" or before /v1 in the base URL"
	default:
		return r, true
	}
	if s.refusals.first(reason, time.Minute) {
		s.emit(fsm.NewEvent("proxy.refused", "", fsm.Facts{"reason": reason, "message": message}))
	}
	r.URL.Path = "" // what was not admitted may hold a part of the secret
	refuse(w, r, status, message)
	return nil, false
}

// KeyHeader is the request header with a caller's credential for a proxy that several people use. The other headers have
// the key for the provider, which passes through unread.
const KeyHeader = "X-Mcp-Pruner-Key"

// takeKey removes the credential for the proxy from a request and returns it.
func takeKey(r *http.Request) string {
	key := strings.TrimSpace(r.Header.Get(KeyHeader))
	if scheme, token, two := strings.Cut(key, " "); two && strings.EqualFold(scheme, "Bearer") {
		key = strings.TrimSpace(token)
	}
	r.Header.Del(KeyHeader)
	return key
}

// check returns the caller of a request, or why it is refused.
func (s *server) check(r *http.Request, credential string) (caller web.Caller, status int, reason, message string) {
	if misplaced(r, func(text string) bool { return web.HasKey(text) || s.gate.Owns(text) }) {
		return caller, http.StatusForbidden, "misplaced_key", "a credential of this proxy is where the provider's key belongs, and must not reach the provider. It belongs into the header " + KeyHeader
	}
	caller, err := s.gate.Check(r.Context(), credential)
	switch {
	case web.Unavailable(err):
		return caller, http.StatusServiceUnavailable, "credentials_unavailable", "the credentials of callers cannot be checked now"
	case errors.Is(err, web.ErrScope):
		return caller, http.StatusForbidden, "insufficient_scope", err.Error()
	case err != nil:
		return caller, http.StatusUnauthorized, "no_key", "the key is missing, wrong, expired or revoked. It belongs into the header " + KeyHeader + "; docs/TEAMS.md says how each client sends it"
	}
	return caller, 0, "", ""
}

// misplaced reports whether what goes to the provider has a credential of ours: in its address or a header, alone or as the value
// of a cookie or a parameter, with escapes or without.
func misplaced(r *http.Request, ours func(text string) bool) bool {
	texts := []string{r.URL.Path, r.URL.RawQuery}
	for _, values := range r.Header {
		texts = append(texts, values...)
	}
	if name, password, ok := r.BasicAuth(); ok {
		texts = append(texts, name, password)
	}
	for _, text := range texts {
		if plain, err := url.PathUnescape(text); err == nil && plain != text {
			texts = append(texts, plain)
		}
	}
	return slices.ContainsFunc(texts, func(text string) bool {
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t;,&\"", r) }) {
			_, value, _ := strings.Cut(word, "=")
			if ours(word) || value != "" && ours(value) {
				return true
			}
		}
		return false
	})
}

// answerProbe answers those who look after the proxy and have no credential. They learn only whether it runs.
func (s *server) answerProbe(w http.ResponseWriter, r *http.Request) bool {
	status := http.StatusOK
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return false
	case r.URL.Path == readyPath && (s.draining.Load() || s.gate.Ready(r.Context()) != nil):
		status = http.StatusServiceUnavailable
	case r.URL.Path == readyPath, r.URL.Path == HealthPath && r.Header.Get(KeyHeader) == "":
	default:
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"ok":%t}`+"\n", status == http.StatusOK) // the client is gone
	return true
}

// readyPath is where a proxy for several people says whether it can serve requests now.
const readyPath = "/readyz"

// logged records when each reason was last logged, so that a caller cannot fill the log.
type logged struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// first reports whether a reason was not logged within a time.
func (f *logged) first(reason string, within time.Duration) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t, ok := f.last[reason]; ok && time.Since(t) < within {
		return false
	}
	if f.last == nil || len(f.last) >= 10_000 {
		f.last = make(map[string]time.Time)
	}
	f.last[reason] = time.Now()
	return true
}

// prefixed begins the errors of the proxy's own.
const prefixed = "mcp-pruner proxy: "

// refuse answers a request with an error of the proxy's own, in the form of the API that the request is for.
func refuse(w http.ResponseWriter, r *http.Request, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(wire.Refusal(r, status, prefixed+message))
}

// noBody answers a request whose body did not come, or found no room.
func noBody(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		w.Header().Set("Retry-After", "5")
		refuse(w, r, http.StatusServiceUnavailable, "the requests in progress take all the memory that they may: try again, or send fewer large ones at a time")
	case errors.Is(err, os.ErrDeadlineExceeded):
		refuse(w, r, http.StatusRequestTimeout, "the body took too long")
	default:
		refuse(w, r, http.StatusBadRequest, "the body ended early")
	}
}
