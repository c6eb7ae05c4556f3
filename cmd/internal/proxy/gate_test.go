package proxy

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
)

// A proxy of several people admits by its own header, which never reaches the provider; the provider's key does, unread; and
// a credential of ours that stands anywhere else goes nowhere.
func TestACallersKeyStaysHere(t *testing.T) {
	var sent []http.Header
	up := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { sent = append(sent, r.Header) }))
	defer up.Close()
	to, err := url.Parse(up.URL)
	require.NoError(t, err)
	s := newServer(to, nil, func(fsm.Event) {})
	s.gate, s.access = &web.Gate{Door: "proxy", Methods: []web.AuthMethod{web.Token("t0ken")}}, web.Access{Host: "0.0.0.0", Cert: "c", Key: "k"}
	key := web.NewKey()
	ask := func(path string, headers ...string) int {
		r := httptest.NewRequest("POST", path, nil)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Code
	}
	assert.Equal(t, 200, ask("/v1/x", KeyHeader, "t0ken", "Authorization", "Bearer sk-provider", secret.Header, "old", "X-Forwarded-User", "root"))
	require.Len(t, sent, 1)
	assert.Equal(t, "Bearer sk-provider", sent[0].Get("Authorization"))
	for _, name := range []string{KeyHeader, secret.Header, "X-Forwarded-User"} {
		assert.Empty(t, sent[0].Get(name), name)
	}
	for what, c := range map[string]struct {
		path    string
		headers []string
		status  int
	}{
		"no key":                  {"/v1/x", []string{"Authorization", "Bearer t0ken0"}, 401},
		"a wrong key":             {"/v1/x", []string{KeyHeader, key}, 401},
		"our token to them":       {"/v1/x", []string{KeyHeader, "t0ken", "Authorization", "Bearer t0ken"}, 403},
		"any key of ours to them": {"/v1/x", []string{KeyHeader, "t0ken", "X-Api-Key", key}, 403},
		"a key in the path":       {"/" + key + "/v1/x", []string{KeyHeader, "t0ken"}, 403},
		"a key in the query":      {"/v1/x?key=" + key, []string{KeyHeader, "t0ken"}, 403},
	} {
		assert.Equal(t, c.status, ask(c.path, c.headers...), what)
	}
	assert.Len(t, sent, 1, "nothing that was refused was sent on")
}

// Whoever looks after the proxy learns without a credential that it runs, and that it ends.
func TestProbesOfAProxy(t *testing.T) {
	s := newServer(nil, nil, func(fsm.Event) {})
	s.gate, s.access = &web.Gate{Methods: []web.AuthMethod{web.Token("t0ken")}}, web.Access{Host: "0.0.0.0", Cert: "c", Key: "k"}
	get := func(path string) int {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		return w.Code
	}
	assert.Equal(t, 200, get("/healthz"))
	assert.Equal(t, 200, get("/readyz"))
	s.draining.Store(true)
	assert.Equal(t, 200, get("/healthz"))
	assert.Equal(t, 503, get("/readyz"))
	assert.Equal(t, 401, get("/v1/models"))
}
