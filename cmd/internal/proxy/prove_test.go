package proxy

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
)

// stranger is a program that listens in a proxy's place and keeps what it is sent.
type stranger struct {
	*httptest.Server
	mu   sync.Mutex
	sent bytes.Buffer
}

func newStranger(t *testing.T, answer http.HandlerFunc) *stranger {
	t.Helper()
	s := &stranger{Server: httptest.NewUnstartedServer(nil)}
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := httputil.DumpRequest(r, true)
		assert.NoError(t, err)
		s.mu.Lock()
		s.sent.Write(text)
		s.mu.Unlock()
		answer(w, r)
	})
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *stranger) got() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent.String()
}

// ownProxy is a proxy of the user's, which proves itself by a key.
func ownProxy(t *testing.T, key secret.Proof) (h *server, address string) {
	t.Helper()
	h = newServer(nil, nil, func(fsm.Event) {})
	h.secret, h.prover = "mcpp_x", prover{key, secret.NewNonce()}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return h, s.URL
}

// Whoever listens in the proxy's place is told apart from it, and learns nothing by which it could be taken for the proxy, or for
// its owner.
func TestAStrangerInTheProxysPlace(t *testing.T) {
	state := t.TempDir()
	lookup := func(name string) (string, bool) { return state, name == "XDG_STATE_HOME" }
	access, err := secret.Load(lookup)
	require.NoError(t, err)
	key, err := secret.LoadProof(lookup)
	require.NoError(t, err)
	_, real := ownProxy(t, key)
	to, err := url.Parse(real)
	require.NoError(t, err)
	earlier := key.Sign(secret.Answers, "127.0.0.1:1", secret.NewNonce())
	answers := func(proof func(r *http.Request) string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			_ = json.NewEncoder(w).Encode(proven{proof(r), secret.NewNonce()})
		}
	}
	for name, answer := range map[string]http.HandlerFunc{
		"a page":           func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<h1>It works</h1>")) },
		"a healthy one":    func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"status":"ok"}`)) },
		"a 403":            func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
		"a redirect":       func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, real+HealthPath, http.StatusFound) },
		"an earlier proof": answers(func(*http.Request) string { return earlier }),
		"the question":     answers(func(r *http.Request) string { return r.Header.Get(secret.ChallengeHeader) }),
		"no proof":         answers(func(*http.Request) string { return "" }),
		"another key": answers(func(r *http.Request) string {
			return secret.Proof(secret.New()).Sign(secret.Answers, reachedAt(r), r.Header.Get(secret.ChallengeHeader))
		}),
		"the secret as key": answers(func(r *http.Request) string {
			return secret.Proof(access).Sign(secret.Answers, reachedAt(r), r.Header.Get(secret.ChallengeHeader))
		}),
		"one that passes it on": httputil.NewSingleHostReverseProxy(to).ServeHTTP,
	} {
		t.Run(name, func(t *testing.T) {
			s := newStranger(t, answer)
			_, err := Ask(t.Context(), s.URL, key)
			assert.True(t, Taken(err), "%v", err)
			assert.False(t, NotRunning(err))
			assert.ErrorContains(t, err, "cannot prove that it is this user's proxy")
			assert.True(t, Taken(Stop(t.Context(), s.URL, key)))
			assert.NotContains(t, s.got(), string(access))
			assert.NotContains(t, s.got(), string(key))
			assert.NotContains(t, s.got(), secret.ProofHeader, "nothing is proved to a stranger")
		})
	}
	_, err = Ask(t.Context(), real, key)
	require.NoError(t, err)
}

// What the owner proved for one purpose, at one address and to one process opens nothing else.
func TestAProofIsGoodForOnePurpose(t *testing.T) {
	key := secret.Proof(secret.New())
	h, address := ownProxy(t, key)
	ends := 0
	h.stop = func() { ends++ }
	other, _ := ownProxy(t, key)
	at := address[len("http://"):]
	ask := func(method, path, proof string) int {
		r, err := http.NewRequest(method, address+path, nil)
		require.NoError(t, err)
		r.Header.Set(secret.ProofHeader, proof)
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		_ = res.Body.Close()
		return res.StatusCode
	}
	for proof, want := range map[string]int{
		key.Sign(secret.Asks, at, h.prover.nonce):            http.StatusOK,
		key.Sign(secret.Ends, at, h.prover.nonce):            http.StatusForbidden,
		key.Sign(secret.Answers, at, h.prover.nonce):         http.StatusForbidden,
		key.Sign(secret.Asks, at, other.prover.nonce):        http.StatusForbidden,
		key.Sign(secret.Asks, "127.0.0.1:1", h.prover.nonce): http.StatusForbidden,
		"": http.StatusForbidden,
	} {
		assert.Equal(t, want, ask(http.MethodGet, HealthPath, proof))
		assert.Equal(t, http.StatusForbidden, ask(http.MethodGet, "/v1/models", proof), "it is no secret")
		assert.Zero(t, ends)
	}
	assert.Equal(t, http.StatusForbidden, ask(http.MethodDelete, HealthPath, key.Sign(secret.Asks, at, h.prover.nonce)))
	r, err := http.NewRequest(http.MethodDelete, address+HealthPath, nil)
	require.NoError(t, err)
	r.Header.Set(secret.Header, string(h.secret))
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	_ = res.Body.Close()
	assert.Equal(t, http.StatusMethodNotAllowed, res.StatusCode, "who may use it may not end it for the others")
	assert.Zero(t, ends)
	assert.Equal(t, http.StatusAccepted, ask(http.MethodDelete, HealthPath, key.Sign(secret.Ends, at, h.prover.nonce)))
	assert.Equal(t, 1, ends)
	assert.False(t, secret.Proof("").Is(secret.Proof("").Sign(secret.Asks, at, ""), secret.Asks, at, ""), "no key proves nothing")
}

// The hook of a client stops the prompt by its exit code if something else listens in the proxy's place.
func TestTheHookStopsThePrompt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the test program takes no verb there")
	}
	s := newStranger(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) })
	u, err := url.Parse(s.URL)
	require.NoError(t, err)
	cmd := exec.Command(os.Args[0], "--ensure", "--port", u.Port())
	cmd.Env = append(os.Environ(), childMode+"=1", "XDG_STATE_HOME="+t.TempDir())
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.Error(t, cmd.Run())
	assert.Equal(t, 2, cmd.ProcessState.ExitCode())
	assert.Empty(t, stdout.String())
	assert.Contains(t, stderr.String(), "what listens on "+u.Host+" is not a proxy of yours")
	assert.Contains(t, stderr.String(), "so the prompt is stopped")
}

// A proxy of an older version, which this user started, stops nothing: it works for the clients as it did.
func TestAnOlderProxyStopsNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says whose it is")
	}
	h, address := ownProxy(t, "")
	require.NotNil(t, h)
	_, err := Ask(t.Context(), address, secret.Proof(secret.New()))
	require.ErrorContains(t, err, "but you started it and it answers as a proxy does")
	assert.NotContains(t, err.Error(), "not a proxy of yours")
	var other Stranger
	require.ErrorAs(t, err, &other)
	assert.True(t, other.kindly)
}
