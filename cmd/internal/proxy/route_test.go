package proxy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
)

// roundTripper is a transport that is a function.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

const nowhere = ""

// routed lists requests without a configured upstream: what they carry, and the host they reach.
var routed = []struct{ method, path, headers, host string }{
	// Claude Code: with an API key, a subscription, another company's token for Anthropic's API, and its requests beside the conversation.
	{"POST", "/v1/messages?beta=true", "X-Api-Key: sk-ant-api03-k|Anthropic-Version: 2023-06-01", "api.anthropic.com"},
	{"POST", "/v1/messages?beta=true", "Authorization: Bearer sk-ant-oat01-k|Anthropic-Version: 2023-06-01|Anthropic-Beta: oauth-2025-04-20", "api.anthropic.com"},
	{"POST", "/v1/messages", "Authorization: Bearer token|Anthropic-Version: 2023-06-01", "api.anthropic.com"},
	{"POST", "/v1/messages/count_tokens", "X-Api-Key: k", "api.anthropic.com"},
	{"GET", "/v1/models", "Authorization: Bearer sk-ant-oat01-k|Anthropic-Version: 2023-06-01", "api.anthropic.com"},
	{"GET", "/v1/models", "X-Api-Key: sk-ant-api03-k", "api.anthropic.com"},
	{"GET", "/api/oauth/usage", "Authorization: Bearer sk-ant-oat01-k|Anthropic-Beta: oauth-2025-04-20", "api.anthropic.com"},
	{"GET", "/api/oauth/claude_cli/roles", "Authorization: Bearer sk-ant-oat01-k", "api.anthropic.com"},
	{"POST", "/api/event_logging/v2/batch", "X-Api-Key: sk-ant-api03-k", "api.anthropic.com"},
	{"POST", "/v1/code/sessions", "Authorization: Bearer sk-ant-oat01-k|Anthropic-Version: 2023-06-01", "api.anthropic.com"},
	// Codex, opencode and others with OpenAI's API.
	{"POST", "/v1/responses", "Authorization: Bearer sk-proj-k", "api.openai.com"},
	{"POST", "/v1/responses", "Authorization: Bearer eyJhbGciOi.x.y|Chatgpt-Account-Id: a", "chatgpt.com"},
	{"GET", "/v1/models?client_version=1", "Authorization: Bearer eyJhbGciOi.x.y|Chatgpt-Account-Id: a|Openai-Project: p", "chatgpt.com"},
	{"POST", "/v1/alpha/search", "Authorization: Bearer eyJhbGciOi.x.y|Chatgpt-Account-Id: a", "chatgpt.com"},
	{"POST", "/v1/responses/compact", "Authorization: Bearer at-k|Chatgpt-Account-Id: a", "chatgpt.com"},
	{"POST", "/v1/chat/completions", "Authorization: bearer sk-k", "api.openai.com"},
	{"GET", "/v1/models?client_version=1", "Authorization: Bearer sk-k", "api.openai.com"},
	{"POST", "/v1/alpha/search", "Authorization: Bearer sk-k", "api.openai.com"}, // of Codex's code that searches the web
	{"POST", "/v1/threads/t/messages", "Authorization: Bearer sk-proj-k", "api.openai.com"},
	{"POST", "/v1/embeddings", "Authorization: Bearer sk-svcacct-k", "api.openai.com"},
	// Gemini CLI, and the same API in OpenAI's form.
	{"POST", "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse", "X-Goog-Api-Key: AIzak", "generativelanguage.googleapis.com"},
	{"POST", "/v1beta/models/gemini-3-pro:generateContent?key=AIzak", "", "generativelanguage.googleapis.com"},
	{"POST", "/v1/models/gemini-3-pro:generateContent", "X-Goog-Api-Key: k", "generativelanguage.googleapis.com"},
	{"POST", "/v1beta/openai/chat/completions", "Authorization: Bearer AIzak", "generativelanguage.googleapis.com"},
	// A key of one company must not reach another.
	{"GET", "/v1/models", "Authorization: Bearer sk-ant-oat01-k", nowhere},
	{"POST", "/v1/responses", "Authorization: Bearer sk-ant-api03-k", nowhere},
	{"POST", "/v1/chat/completions", "X-Api-Key: sk-ant-api03-k", nowhere},
	{"POST", "/v1/messages", "Authorization: Bearer sk-proj-k|Anthropic-Version: 2023-06-01", nowhere},
	{"POST", "/v1/messages", "X-Api-Key: sk-proj-k|Anthropic-Version: 2023-06-01", nowhere},
	{"POST", "/v1/messages", "Authorization: Bearer sk-proj-k", nowhere},
	{"POST", "/v1/messages", "Authorization: Bearer token", nowhere},
	{"POST", "/v1/messages", "X-Api-Key: sk-ant-api03-k|Authorization: Bearer sk-proj-k", nowhere},
	{"POST", "/v1/messages?key=AIzak", "X-Api-Key: sk-ant-api03-k", nowhere},
	{"POST", "/v1/threads/t/messages", "X-Api-Key: sk-ant-api03-k", nowhere},
	{"POST", "/v1/responses", "Authorization: Bearer sk-proj-k|Chatgpt-Account-Id: a", nowhere},
	{"POST", "/v1/responses", "Authorization: Bearer eyJhbGciOi.x.y", nowhere},
	{"POST", "/v1/responses", "Authorization: Bearer token", nowhere},
	{"POST", "/v1/messages", "Authorization: Bearer eyJhbGciOi.x.y|Anthropic-Version: 2023-06-01", nowhere},
	{"POST", "/v1/messages", "Authorization: Bearer eyJhbGciOi.x.y|Chatgpt-Account-Id: a", nowhere},
	{"GET", "/v1/models", "Authorization: Bearer eyJhbGciOi.x.y|Chatgpt-Account-Id: a|Anthropic-Version: 2023-06-01", nowhere},
	{"GET", "/v1/files", "X-Goog-Api-Key: AIzak", nowhere},
	{"GET", "/v1/files?key=AIzak", "", nowhere},
	{"POST", "/v1beta/models/m:generateContent", "Authorization: Bearer sk-proj-k", nowhere},
	{"POST", "/v1beta/models/m:generateContent", "X-Goog-Api-Key: sk-ant-api03-k", nowhere},
	{"POST", "/v1beta/models/m:generateContent", "X-Goog-Api-Key: AIzak|X-Api-Key: k", nowhere},
	{"POST", "/v1/responses", "Authorization: Bearer AIzak", nowhere},
	{"POST", "/v1/chat/completions", "Authorization: Bearer sk-or-v1-k", nowhere},
	{"POST", "/v1/chat/completions", "Authorization: Bearer gsk_k", nowhere},
	{"POST", "/v1/responses", "Api-Key: k", nowhere},
	{"POST", "/v1/responses", "Authorization: Basic a2V5", nowhere},
	{"POST", "/v1/messages", "Authorization: AWS4-HMAC-SHA256 x|Anthropic-Version: 2023-06-01", nowhere},
	{"GET", "/api/oauth/usage", "Authorization: Bearer sk-proj-k", nowhere},
	{"GET", "/api/oauth/usage", "Authorization: Bearer token", nowhere},
	// However a key is spelled, and wherever it stands.
	{"POST", "/v1/messages", "X-Api-Key: \"sk-proj-k\"|Anthropic-Version: 2023-06-01", nowhere},
	{"POST", "/v1/messages", "X-Api-Key: Bearer sk-proj-k", nowhere},
	{"POST", "/v1/messages", "Authorization: BEARER  'sk-or-v1-k'|Anthropic-Version: 2023-06-01", nowhere},
	{"POST", "/v1/messages", "Authorization: Bearer key=sk-proj-k|Anthropic-Version: 2023-06-01", nowhere},
	{"POST", "/v1/messages", "X-Api-Key: sk-ant-api03-k,sk-proj-k", nowhere},
	{"POST", "/v1/messages", "X-Api-Key: \tsk-kimi-k ", nowhere},
	{"POST", "/v1/messages", "Authorization: Bearer sk-kimi-k|Anthropic-Version: 2023-06-01", nowhere},
	{"POST", "/v1/chat/completions", "Authorization: Bearer sk-kimi-k", nowhere},
	{"POST", "/v1/chat/completions", "Authorization: Bearer sk-sp-k", nowhere},
	{"POST", "/v1/chat/completions", "Authorization: Bearer sk-cp-k", nowhere},
	{"POST", "/v1/messages", "X-Api-Key: vck_k", nowhere},
	{"POST", "/v1beta/models/m:generateContent", "X-Goog-Api-Key: 'sk-ant-api03-k'", nowhere},
	{"POST", "/v1/chat/completions?api_key=k", "Authorization: Bearer sk-proj-k", nowhere},
	{"POST", "/v1/messages?token=k", "X-Api-Key: sk-ant-api03-k", nowhere},
	{"POST", "/v1/messages?Access-Token=k", "X-Api-Key: sk-ant-api03-k", nowhere},
	{"POST", "/v1beta/models/m:generateContent?Key=k", "X-Goog-Api-Key: AIzak", nowhere},
	{"POST", "/v1/messages?x;key=AIzak", "X-Api-Key: sk-ant-api03-k", nowhere},
	{"POST", "/v1/messages?x=sk%2Dproj-0123456789abcdef", "X-Api-Key: sk-ant-api03-k", nowhere},
	{"POST", "/v1/messages", "X-Api-Key: sk-ant-api03-k|X-Auth-Token: gsk_0123456789abcdef", nowhere},
	{"POST", "/v1/messages", "X-Api-Key: sk-ant-api03-k|Helicone-Auth: Bearer sk-helicone-0123456789", nowhere},
	// Keys in no known form belong to the provider whose header has them: gateways give out their own.
	{"POST", "/v1/messages", "X-Api-Key: my-gateways-key", "api.anthropic.com"},
	{"POST", "/v1/messages", "X-Api-Key: \"sk-ant-api03-k\"", "api.anthropic.com"},
	{"POST", "/v1/responses", "Authorization: BEARER \tsk-proj-k", "api.openai.com"},
	{"GET", "/v1/files?after=eyJpZCI6ImZpbGVfMDEyMzQ1Njc4OSJ9", "Authorization: Bearer sk-proj-k", "api.openai.com"},
	{"POST", "/v1/responses", "Authorization: Bearer sk-proj-k|Idempotency-Key: 0123456789abcdef01234567", "api.openai.com"},
	// Nothing says whose these are.
	{"POST", "/v1/messages", "", nowhere},
	{"HEAD", "/", "", nowhere},
	{"GET", "/", "Authorization: Bearer sk-proj-k", nowhere},
	{"POST", "/v2/chat", "Authorization: Bearer token", nowhere},
	{"POST", "/backend-api/codex/responses", "Authorization: Bearer eyJhbGciOi.x.y", nowhere},
	{"POST", "/messages", "X-Api-Key: sk-ant-api03-k", nowhere},
	{"POST", "/v1/xmessages", "X-Api-Key: sk-ant-api03-k", nowhere},
}

// Without --upstream a request reaches a provider only if path and key both name it, and then with its key. All others
// are answered 421 with the reason in the shape of their API, and reach nobody.
func TestEachKeyReachesItsProviderOnly(t *testing.T) {
	var mu sync.Mutex
	var reached []*http.Request
	var events []fsm.Event
	s := newServer(nil, nil, func(e fsm.Event) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e)
	})
	s.proxy.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		if r.URL.Path != "/backend-api/wham/accounts/check" {
			reached = append(reached, r)
		}
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("{}")), Header: http.Header{}, Request: r}, nil
	})
	front := httptest.NewServer(s)
	defer front.Close()
	require.GreaterOrEqual(t, len(routed), 30)
	for _, c := range routed {
		t.Run(c.method+" "+c.path+" "+c.headers, func(t *testing.T) {
			reached, events = nil, nil
			req, err := http.NewRequest(c.method, front.URL+c.path, strings.NewReader(`{}`))
			require.NoError(t, err)
			for h := range strings.SplitSeq(c.headers, "|") {
				if name, value, ok := strings.Cut(h, ": "); ok {
					req.Header.Set(name, value)
				}
			}
			res, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			body, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			if c.host != nowhere {
				require.Len(t, reached, 1, "%s", body)
				assert.Equal(t, c.host, reached[0].URL.Host)
				assert.Equal(t, c.host, reached[0].Host)
				assert.Equal(t, "https", reached[0].URL.Scheme)
				if path, _, _ := strings.Cut(c.path, "?"); c.host == "chatgpt.com" {
					assert.Equal(t, strings.Replace(path, "/v1/", "/backend-api/codex/", 1), reached[0].URL.Path)
				} else {
					assert.Equal(t, path, reached[0].URL.Path)
				}
				for name := range req.Header {
					assert.Equal(t, req.Header[name], reached[0].Header[name])
				}
				return
			}
			assert.Empty(t, reached)
			assert.Equal(t, http.StatusMisdirectedRequest, res.StatusCode)
			require.Len(t, events, 1)
			assert.Equal(t, "proxy.refused", events[0].Name)
			if c.method == "HEAD" {
				return
			}
			assert.Contains(t, string(body), "--upstream URL")
			assert.Contains(t, string(body), `"error":{`)
			if strings.HasPrefix(c.path, "/v1beta") {
				assert.Contains(t, string(body), `"code":421`)
			}
			for _, text := range []string{string(body), events[0].Data["message"].(string)} {
				for _, key := range []string{"sk-", "sk%2D", "AIza", "eyJ", "a2V5", "gsk_", "vck_"} {
					assert.NotContains(t, strings.ReplaceAll(text, c.path, ""), key)
				}
			}
		})
	}
}

// A slash that is doubled, as where a base URL ends with one, changes nothing: not where a request goes, nor who is admitted, nor that
// its results are cleared.
func TestADoubledSlashIsOne(t *testing.T) {
	r := newRig(t, database(t), GC)
	r.server.secret = secret.New()
	own := "/" + string(r.server.secret)
	var paths []string
	r.up.answer = func(_ http.ResponseWriter, req *http.Request) { paths = append(paths, req.URL.EscapedPath()) }
	for _, path := range []string{"//v1/messages", "/%2Fv1/messages"} {
		res, err := http.Post(r.proxy.URL+path, "", nil)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		assert.Equal(t, http.StatusForbidden, res.StatusCode, path)
	}
	assert.Empty(t, paths)
	for i, path := range []string{"/v1/messages", "//v1/messages", "/v1//messages", "///v1///messages", "/%2Fv1/messages"} {
		assert.Contains(t, string(r.post(t, own+path, claudeHistory(40))), "[cleared ", path)
		assert.Equal(t, "/v1/messages", paths[i], path)
		r.post(t, "/"+own+path, claudeHistory(40))
		paths = paths[:i+1]
	}
	res, err := http.Get(r.proxy.URL + own + "/" + HealthPath)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Len(t, paths, 5, "the proxy itself answers")
	r.server.upstream = nil
	for path, want := range map[string]int{"//v1/messages": http.StatusOK, "//v1/responses": http.StatusMisdirectedRequest} {
		r.server.proxy.Transport = roundTripper(func(q *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(q.URL.String())), Header: http.Header{}, Request: q}, nil
		})
		req, err := http.NewRequest(http.MethodPost, r.proxy.URL+own+path, strings.NewReader("{}"))
		require.NoError(t, err)
		req.Header.Set("X-Api-Key", "sk-ant-api03-k")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		assert.Equal(t, want, res.StatusCode, "%s: %s", path, body)
	}
}

// With --upstream every request goes there, whatever it carries.
func TestAConfiguredUpstreamGetsEverything(t *testing.T) {
	r := newRig(t, database(t), GC)
	for i, c := range routed {
		req, err := http.NewRequest(c.method, r.proxy.URL+c.path, nil)
		require.NoError(t, err)
		for h := range strings.SplitSeq(c.headers, "|") {
			if name, value, ok := strings.Cut(h, ": "); ok {
				req.Header.Set(name, value)
			}
		}
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		assert.Equal(t, http.StatusOK, res.StatusCode)
		assert.Len(t, r.up.bodies, i+1, c.path)
	}
}
