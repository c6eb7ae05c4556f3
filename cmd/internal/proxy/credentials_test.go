package proxy

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
)

// credentials are kinds of credentials with the only host that may see them; "": none may.
var credentials = map[string]string{
	"sk-ant-api03-k": "api.anthropic.com", "sk-ant-oat01-k": "api.anthropic.com", "sk-ant-admin01-k": "api.anthropic.com",
	"sk-proj-k": "api.openai.com", "sk-svcacct-k": "api.openai.com", "sk-k": "api.openai.com", "eyJhbGciOi.x.y": "chatgpt.com",
	"AIzak": "generativelanguage.googleapis.com", "ya29.k": "generativelanguage.googleapis.com", "AQ.k": "generativelanguage.googleapis.com",
	"sk-or-v1-k": "", "gsk_k": "", "xai-k": "", "hf_k": "", "ghp_k": "", "github_pat_k": "", "AKIAK": "",
}

// Every kind of credential, in every header, with the headers of every provider's clients, at every path of every provider's: it
// reaches its own provider or nobody, and its own it reaches in the form in which that provider's clients send it.
func TestEachCredentialAtEachAddress(t *testing.T) {
	var reached []string
	s := newServer(nil, nil, func(fsm.Event) {})
	s.proxy.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		reached = append(reached, r.URL.Host)
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader("{}")), Header: http.Header{}, Request: r}, nil
	})
	paths := []string{
		"/v1/messages", "/v1/messages/count_tokens", "/v1/responses", "/v1/responses/compact", "/v1/chat/completions", "/v1/models", "/v1/files", "/v1/alpha/search",
		"/v1beta/models/m:generateContent", "/v1/models/m:generateContent", "/v1beta/openai/chat/completions", "/api/oauth/usage", "/backend-api/codex/responses", "/x",
	}
	places := []string{"Authorization: Bearer %", "X-Api-Key: %", "X-Goog-Api-Key: %", "?key=%", "Authorization: Basic %", "Api-Key: %"}
	companions := []string{"", "Anthropic-Version: 2023-06-01", "Chatgpt-Account-Id: a", "Openai-Beta: b"}
	own := map[string]bool{}
	for key, host := range credentials {
		for _, path := range paths {
			for _, place := range places {
				for _, companion := range companions {
					reached = nil
					place := strings.Replace(place, "%", key, 1)
					r := httptest.NewRequest(http.MethodPost, path, strings.NewReader("{}"))
					if query, ok := strings.CutPrefix(place, "?"); ok {
						r = httptest.NewRequest(http.MethodPost, path+"?"+query, strings.NewReader("{}"))
						place = ""
					}
					r.Host = "127.0.0.1"
					for _, header := range []string{place, companion} {
						if name, value, ok := strings.Cut(header, ": "); ok {
							r.Header.Set(name, value)
						}
					}
					w := httptest.NewRecorder()
					s.ServeHTTP(w, r)
					if others := slices.DeleteFunc(reached, func(h string) bool { return h == host }); len(others) > 0 {
						t.Errorf("%s reached %v at %s by %q with %q", key, others, path, place, companion)
					}
					own[key] = own[key] || w.Code == http.StatusOK
					if w.Code != http.StatusOK {
						require.Equal(t, http.StatusMisdirectedRequest, w.Code)
					}
				}
			}
		}
	}
	for key, host := range credentials {
		assert.Equal(t, host != "", own[key], key)
	}
}

// A secret or key of ours reaches no provider, wherever a request has it beside its own place.
func TestNoCredentialOfOursGoesOn(t *testing.T) {
	up := newUpstream(t)
	to, err := url.Parse(up.URL)
	require.NoError(t, err)
	own, key := string(secret.New()), web.NewKey()
	alone := newServer(to, nil, func(fsm.Event) {})
	alone.secret = secret.Secret(own)
	shared := newServer(to, nil, func(fsm.Event) {})
	shared.access, shared.gate = web.Access{Host: "0.0.0.0", Cert: "c", Key: "k"}, &web.Gate{Door: "proxy", Methods: []web.AuthMethod{web.Token("t0ken=="), web.Token(key)}}
	for _, c := range []struct {
		server              *server
		header, right, ours string
	}{{alone, secret.Header, own, own}, {shared, KeyHeader, key, key}, {shared, KeyHeader, key, web.NewKey()}, {shared, KeyHeader, key, "t0ken=="}} {
		ask := func(query, name, value string) int {
			r := httptest.NewRequest(http.MethodPost, "/v1/messages?"+query, nil)
			r.Host = "127.0.0.1"
			r.Header.Set(c.header, c.right)
			if name != "" {
				r.Header.Add(name, value)
			}
			w := httptest.NewRecorder()
			c.server.ServeHTTP(w, r)
			return w.Code
		}
		require.Equal(t, 200, ask("", "Cookie", "a=b; c=d"))
		before := len(up.bodies)
		for _, h := range [][2]string{{"Cookie", "a=" + c.ours + "; b=c"}, {"Cookie", "b=c; a=" + c.ours}, {"Authorization", "Bearer " + c.ours}, {"X-Api-Key", c.ours}, {"X-Else", `k="` + c.ours + `"`}} {
			assert.Equal(t, 403, ask("", h[0], h[1]), h)
		}
		assert.Equal(t, 403, ask("k="+c.ours, "", ""))
		assert.Equal(t, 403, ask("k="+fmt.Sprintf("%%%02x", c.ours[0])+c.ours[1:], "", ""), "with an escape")
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.SetBasicAuth("user", c.ours)
		assert.Equal(t, 403, ask("", "Authorization", r.Header.Get("Authorization")))
		assert.Len(t, up.bodies, before)
	}
}
