package proxy

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// A ChatGPT login's requests go to the address of its workspace, for which chatgpt.com is asked once, with the same login. A
// refused login is the client's to renew; an address of another company's gets nothing.
func TestWorkspaceOfALogin(t *testing.T) {
	const listed, mapped = `{"accounts":[{"id":"other","workspace_backend_origin":"https://evil.example"},{"id":"acc","workspace_backend_origin":"%","account_routing_override":"NO_CONSTRAINT"}]}`,
		`{"accounts":{"default":{"account":{"account_id":"acc","workspace_backend_origin":"%","account_routing_override":"us"}}}}`
	at := func(form, origin string) string { return strings.Replace(form, "%", origin, 1) }
	for name, c := range map[string]struct {
		status   int // of the answer to the question; 0: there is none
		answer   string
		want     int
		host     string // that gets the requests; "": none
		override string
		asked    int // times, for two requests
	}{
		"its own":         {200, at(listed, "https://chatgpt.com"), 200, "chatgpt.com", "", 1},
		"none":            {200, at(listed, "NO_CONSTRAINT"), 200, "chatgpt.com", "", 1},
		"not listed":      {200, `{"accounts":[]}`, 200, "chatgpt.com", "", 1},
		"a region":        {200, at(listed, "https://eu.chatgpt.com"), 200, "eu.chatgpt.com", "", 1},
		"a region, bound": {200, at(mapped, "https://us.chatgpt.com/"), 200, "us.chatgpt.com", "us", 1},
		"elsewhere":       {200, at(listed, "https://chatgpt.com.evil.example"), 421, "", "", 1},
		"near":            {200, at(listed, "https://evilchatgpt.com"), 421, "", "", 1},
		"with a port":     {200, at(listed, "https://chatgpt.com:8443"), 421, "", "", 1},
		"in the clear":    {200, at(listed, "http://chatgpt.com"), 421, "", "", 1},
		"unknown rule":    {200, strings.Replace(at(mapped, "https://chatgpt.com"), `"us"`, `"moon"`, 1), 421, "", "", 1},
		"no JSON":         {200, `<html>`, 502, "", "", 2},
		"no such page":    {404, ``, 200, "chatgpt.com", "", 1},
		"refused":         {401, `{"detail":"expired"}`, 401, "", "", 2},
		"out of order":    {503, ``, 502, "", "", 2},
		"away":            {0, ``, 502, "", "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			var asked, sent []*http.Request
			s := newServer(nil, nil, func(fsm.Event) {})
			s.proxy.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
				res := &http.Response{StatusCode: 200, Body: http.NoBody, Header: http.Header{}, Request: r}
				if r.URL.String() != "https://chatgpt.com/backend-api/wham/accounts/check" {
					sent = append(sent, r)
					return res, nil
				}
				asked = append(asked, r)
				if c.status == 0 {
					return nil, errors.New("away")
				}
				res.StatusCode, res.Body = c.status, io.NopCloser(strings.NewReader(c.answer))
				res.Header.Set("Www-Authenticate", "Bearer")
				return res, nil
			})
			for range 2 {
				r := httptest.NewRequest(http.MethodPost, "/v1/responses?a=b", strings.NewReader("{}"))
				r.Host = "127.0.0.1"
				r.Header.Set("Authorization", "Bearer eyJ.x.y")
				r.Header.Set("ChatGPT-Account-ID", "acc")
				w := httptest.NewRecorder()
				s.ServeHTTP(w, r)
				assert.Equal(t, c.want, w.Code, w.Body.String())
				if c.want == 401 {
					assert.Equal(t, c.answer, w.Body.String())
					assert.Equal(t, "Bearer", w.Header().Get("Www-Authenticate"))
				}
			}
			require.Len(t, asked, c.asked)
			assert.Equal(t, "Bearer eyJ.x.y", asked[0].Header.Get("Authorization"))
			if c.host == "" {
				assert.Empty(t, sent)
				return
			}
			require.Len(t, sent, 2)
			assert.Equal(t, "https://"+c.host+"/backend-api/codex/responses?a=b", sent[1].URL.String())
			assert.Equal(t, c.host, sent[1].Host)
			assert.Equal(t, c.override, sent[1].Header.Get("X-Openai-Account-Routing-Override"))
		})
	}
}

// Another login of the same account is asked about anew, and a refusal of the model's own address arrives as it is.
func TestARenewedLoginIsAskedAboutAgain(t *testing.T) {
	asked := 0
	s := newServer(nil, nil, func(fsm.Event) {})
	s.proxy.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		res := &http.Response{StatusCode: 401, Body: io.NopCloser(strings.NewReader("expired")), Header: http.Header{}, Request: r}
		if strings.HasSuffix(r.URL.Path, "/check") {
			asked++
			res.StatusCode = 404
		}
		return res, nil
	})
	for _, token := range []string{"eyJ.1", "eyJ.1", "eyJ.2"} {
		r := httptest.NewRequest(http.MethodPost, "/v1/responses", strings.NewReader("{}"))
		r.Host = "127.0.0.1"
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Chatgpt-Account-Id", "acc")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		assert.Equal(t, 401, w.Code)
		assert.Equal(t, "expired", w.Body.String())
	}
	assert.Equal(t, 2, asked)
}
