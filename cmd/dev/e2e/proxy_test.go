//go:build e2e

package e2e

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// loggingProxy is a real HTTP proxy that records its requests.
type loggingProxy struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string
}

func newLoggingProxy(t *testing.T) *loggingProxy {
	p := &loggingProxy{}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(p.Close)
	return p
}

func (p *loggingProxy) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	p.seen = append(p.seen, r.Method+" "+r.RequestURI+" "+string(body))
	p.mu.Unlock()
	if r.Method == http.MethodConnect {
		p.tunnel(w, r)
		return
	}
	request, err := http.NewRequestWithContext(r.Context(), r.Method, r.RequestURI, strings.NewReader(string(body)))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	request.Header = r.Header.Clone()
	response, err := (&http.Transport{}).RoundTrip(request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer response.Body.Close()
	for name, values := range response.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(response.StatusCode)
	_, _ = io.Copy(w, response.Body)
}

// tunnel copies bytes between the client and the target of a CONNECT request until the target closes the connection.
func (p *loggingProxy) tunnel(w http.ResponseWriter, r *http.Request) {
	target, err := net.Dial("tcp", r.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer target.Close()
	w.WriteHeader(http.StatusOK)
	client, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	go func() { _, _ = io.Copy(target, buffered) }()
	_, _ = io.Copy(client, target)
}

func (p *loggingProxy) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.seen, "\n")
}

// TestProxySeesNothing proves that requests to the server on this machine do not go through the user's HTTP proxy, for
// any value of NO_PROXY.
func TestProxySeesNothing(t *testing.T) {
	for _, noProxy := range []string{"", "NO_PROXY=example.org", "no_proxy=example.org"} {
		t.Run(noProxy, func(t *testing.T) {
			each(t, func(t *testing.T, c client) {
				proxy := newLoggingProxy(t)
				w := newWorld(t, c, call("bash", map[string]any{"command": "echo the-secret-command"}), done)
				w.env = append(w.env, "HTTP_PROXY="+proxy.URL, "http_proxy="+proxy.URL, "HTTPS_PROXY="+proxy.URL, noProxy)
				o := w.run("--transport", "http", "--allow-bash")
				require.Zero(t, o.code, o.stderr)
				assert.Equal(t, "three times\n", o.stdout)
				assert.Contains(t, o.summary, "run:mcp_pruner_running > run:shutdown; calls 1,")
				assert.NotContains(t, proxy.log(), "the-secret-command")
				assert.NotContains(t, proxy.log(), "/mcp")
				text := strings.Join(o.events, "\n")
				for _, name := range []string{"mcp_pruner.ready", "mcp_pruner.stopped"} {
					assert.Equal(t, 1, strings.Count(text, name), "%s", text)
				}
			})
		})
	}
}
