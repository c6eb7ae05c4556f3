package prunerservice

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/sync/semaphore"

	"mcp-pruner/pruneclient/service"
)

const (
	// largeBody is the size from which reading and writing JSON takes turns.
	largeBody = 16 << 10
	// patience is how long a large answer that is ready waits for its turn: a
	// caller's time limit matters more than fairness.
	patience = 30 * time.Millisecond
)

// lane is where large JSON is read or written one after the other, so that many
// large calls leave a processor to whoever asks for health.
type lane chan struct{}

// do does work of a size: at once where it is small, else when it is its turn,
// or when ctx ends: somebody's answer is late already.
func (l lane) do(ctx context.Context, size int, work func()) {
	if size >= largeBody {
		select {
		case l <- struct{}{}:
			defer func() { <-l }()
		case <-ctx.Done():
		}
	}
	work()
}

// server is the service over HTTP.
type server struct {
	service *service.Service
	version string
	methods map[string]method
	bodies  *bodies
	answers *semaphore.Weighted // of answerBudget

	fetching chan struct{} // a token per original being fetched
	reading  lane
	writing  lane
	log      func(event string, data map[string]any)
}

func newServer(s *service.Service, version string, log func(string, map[string]any)) *server {
	srv := &server{
		service: s, version: version, log: log,
		bodies: newBodies(), answers: semaphore.NewWeighted(answerBudget),
		fetching: make(chan struct{}, lookups), reading: make(lane, 1), writing: make(lane, 1),
	}
	srv.methods = srv.allMethods()
	return srv
}

func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /rpc", s.serveRPC)
	mux.HandleFunc("POST /prune", s.servePrune)
	mux.HandleFunc("GET /health", s.serveHealth)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusNotFound, map[string]string{"error": "not found"})
	})
	for path, method := range map[string]string{"/rpc": "POST", "/prune": "POST", "/health": "GET, HEAD"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Allow", method)
			writeJSON(w, http.StatusMethodNotAllowed, map[string]string{"error": "method not allowed"})
		})
	}
	return localOnly(mux)
}

// localOnly refuses what a web page could have sent: a browser tells the page's
// origin, and a name that was made to point at this machine shows in Host.
func localOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLoopback(hostOf(r.Host)) || !localOrigin(r.Header.Get("Origin")) {
			writeJSON(w, http.StatusForbidden, map[string]string{"error": "only local callers are served"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return hostport
}

func localOrigin(origin string) bool {
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && isLoopback(u.Hostname())
}

func (s *server) serveHealth(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, s.service.Health())
}

func (s *server) serveRPC(w http.ResponseWriter, r *http.Request) {
	s.withBody(w, r, func(body []byte) {
		answer, err := s.answerRPC(r.Context(), body)
		defer s.answers.Release(answer.weight)
		switch {
		case err != nil: // the caller is gone
		case answer.before == nil:
			w.WriteHeader(http.StatusAccepted)
		default:
			s.send(r.Context(), w, answer)
		}
	}, func(status int) {
		refused := answerOf(nil, nil, standard(codeInvalidRequest))
		write(w, status, append(refused.before, refused.after...))
	})
}

// servePrune is the swe-pruner contract, with FastAPI's answer to bad requests.
func (s *server) servePrune(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int, details ...service.Detail) {
		writeJSON(w, status, map[string]any{"detail": details})
	}
	s.withBody(w, r, func(body []byte) {
		var args service.CodeArgs
		var bad []service.Detail
		s.reading.do(r.Context(), len(body), func() { args, bad = parseCode(body) })
		if len(bad) > 0 {
			refuse(http.StatusUnprocessableEntity, bad...)
			return
		}
		if res, err := s.service.PruneCode(r.Context(), args); err == nil {
			writeJSON(w, http.StatusOK, res)
		}
	}, func(status int) { refuse(status, unread(status)) })
}

// unread says why a body was not read to its end.
func unread(status int) service.Detail {
	switch status {
	case http.StatusRequestEntityTooLarge:
		return service.Detail{Type: "too_large", Loc: []string{"body"}, Msg: "Body larger than 32 MiB"}
	case http.StatusRequestTimeout:
		return service.Detail{Type: "timeout", Loc: []string{"body"}, Msg: "Body was not sent in time"}
	}
	return service.Detail{Type: "incomplete", Loc: []string{"body"}, Msg: "Body ended early"}
}

func parseCode(body []byte) (service.CodeArgs, []service.Detail) {
	if !json.Valid(body) {
		return service.CodeArgs{}, []service.Detail{{Type: "json_invalid", Loc: []string{"body"}, Msg: "JSON decode error"}}
	}
	request, err := decodeParams(body)
	if err != nil {
		return service.CodeArgs{}, []service.Detail{{Type: "model_attributes_type", Loc: []string{"body"}, Msg: "Input should be a valid object"}}
	}
	return service.ParseCode(request)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := encode(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"internal error"}`)
	}
	write(w, status, body)
}

func write(w http.ResponseWriter, status int, body []byte) {
	header(w, status)
	_, _ = w.Write(body)
}

func header(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
}
