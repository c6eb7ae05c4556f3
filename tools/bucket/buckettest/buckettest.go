// Package buckettest has a bucket for tests: it takes, gives and removes objects, and refuses requests that are not signed with
// its key's id. A real service is tried by `make e2e-all`.
package buckettest

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/bucket"
)

// Server is the service of one bucket.
type Server struct {
	bucket.Settings

	mu      sync.Mutex
	objects map[string]string
	broken  bool
}

// Start starts a service, which is stopped at the end of the test.
func Start(t testing.TB) *Server {
	s := &Server{objects: make(map[string]string)}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.Settings = bucket.Settings{URL: h.URL + "/bucket/prefix", ID: "an-id", Secret: "a-secret"}
	return s
}

// Break makes the service refuse everything, or work again.
func (s *Server) Break(broken bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = broken
}

// Objects returns what the bucket has, by path.
func (s *Server) Objects() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.objects)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, there := s.objects[r.URL.Path]
	switch {
	case err != nil || s.broken:
		w.WriteHeader(http.StatusServiceUnavailable)
	case !strings.Contains(r.Header.Get("Authorization"), "Credential="+s.ID+"/"):
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "<Error><Code>AccessDenied</Code></Error>")
	case r.Method == http.MethodPut:
		s.objects[r.URL.Path] = string(text)
	case r.Method == http.MethodDelete:
		delete(s.objects, r.URL.Path)
		w.WriteHeader(http.StatusNoContent)
	case !there:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, "<Error><Code>NoSuchKey</Code></Error>")
	default:
		_, _ = io.WriteString(w, s.objects[r.URL.Path])
	}
}
