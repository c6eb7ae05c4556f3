package view

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/chromium"
)

// played is a home with one session.
func played(t *testing.T) Home {
	t.Helper()
	h := newHome(t)
	_, err := h.Scripted("s1", "shop", begun, 1, true)
	require.NoError(t, err)
	return h
}

var hidden = regexp.MustCompile(`name="token" value="([^"]+)"`)

// ask sends a request to the live page and returns the status and the body.
func ask(t *testing.T, method, address, body string, header http.Header, host string) (int, string, []*http.Cookie) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	require.NoError(t, err)
	if header != nil {
		r.Header = header
	}
	r.Host = host
	answer, err := http.DefaultTransport.RoundTrip(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(text), answer.Cookies()
}

// TestWhoIsLetIn goes through all ways to ask: only who posts the token, once, gets the cookie, and only with it an answer.
func TestWhoIsLetIn(t *testing.T) {
	l := view(t, played(t))
	for _, path := range []string{l.file, filepath.Dir(l.file)} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Zero(t, info.Mode().Perm()&0o077, "others may not even list %s", path)
	}
	file, err := os.ReadFile(l.file)
	require.NoError(t, err)
	token := hidden.FindStringSubmatch(string(file))[1]
	require.Len(t, token, 52)
	home := "http://" + l.host
	form := func(h http.Header) http.Header {
		h.Set("Content-Type", "application/x-www-form-urlencoded")
		return h
	}
	body := url.Values{"token": {token}}.Encode()
	for name, c := range map[string]struct {
		method, path, body string
		header             http.Header
		host               string
	}{
		"no cookie":                          {"GET", "/", "", nil, ""},
		"a made-up cookie":                   {"GET", "/model", "", http.Header{"Cookie": {"mcp_pruner_view_" + l.host[strings.LastIndex(l.host, ":")+1:] + "=x"}}, ""},
		"a wrong token":                      {"POST", "/enter", "token=" + strings.Repeat("A", 52), form(http.Header{}), ""},
		"no token":                           {"POST", "/enter", "", form(http.Header{}), ""},
		"the token in the address":           {"POST", "/enter?" + body, "", form(http.Header{}), ""},
		"the token by another page":          {"POST", "/enter", body, form(http.Header{"Origin": {"http://evil.example"}}), ""},
		"a name that was made to point here": {"POST", "/enter", body, form(http.Header{}), "evil.example"},
		"the name localhost":                 {"POST", "/enter", body, form(http.Header{}), "localhost" + l.host[strings.LastIndex(l.host, ":"):]},
		"a large form":                       {"POST", "/enter", strings.Repeat("x", 1<<20) + "&" + body, form(http.Header{}), ""},
	} {
		status, text, cookies := ask(t, c.method, home+c.path, c.body, c.header, c.host)
		assert.Equal(t, http.StatusForbidden, status, name)
		assert.Empty(t, cookies, name)
		assert.NotContains(t, text, "<script", name)
	}
	status, _, _ := ask(t, "GET", home+"/enter?"+body, "", nil, "")
	assert.Equal(t, http.StatusMethodNotAllowed, status)

	status, text, cookies := ask(t, "POST", home+"/enter", body, form(http.Header{"Origin": {"null"}}), "")
	require.Equal(t, http.StatusOK, status, text)
	require.Len(t, cookies, 1)
	assert.True(t, cookies[0].HttpOnly)
	assert.Equal(t, http.SameSiteStrictMode, cookies[0].SameSite)
	assert.NotContains(t, text, cookies[0].Value)
	status, _, _ = ask(t, "POST", home+"/enter", body, form(http.Header{}), "")
	assert.Equal(t, http.StatusForbidden, status, "it works once")

	own := func(more ...string) http.Header {
		h := http.Header{"Cookie": {cookies[0].Name + "=" + cookies[0].Value}}
		for i := 0; i < len(more); i += 2 {
			h.Set(more[i], more[i+1])
		}
		return h
	}
	for _, path := range []string{"/", "/model", "/prefix", "/trace"} {
		status, _, _ = ask(t, "GET", home+path, "", own(), "")
		assert.Equal(t, http.StatusOK, status, path)
		for name, h := range map[string]http.Header{"origin": own("Origin", "http://evil.example"), "null": own("Origin", "null"), "site": own("Sec-Fetch-Site", "cross-site"), "another port": own("Sec-Fetch-Site", "same-site")} {
			status, _, _ = ask(t, "GET", home+path, "", h, "")
			assert.Equal(t, http.StatusForbidden, status, "%s %s", path, name)
		}
		status, _, _ = ask(t, "GET", home+path, "", own(), "evil.example")
		assert.Equal(t, http.StatusForbidden, status, path)
		status, _, _ = ask(t, "POST", home+path, "", own(), "")
		assert.Equal(t, http.StatusMethodNotAllowed, status, "nothing can be changed")
	}
	for _, path := range []string{"/original/prn_00000000", "/original/..%2f..%2fetc%2fpasswd", "/window/x", "/cut/x/prn_00000000", "/none"} {
		status, _, _ = ask(t, "GET", home+path, "", own(), "")
		assert.Equal(t, http.StatusNotFound, status, path)
	}
}

// TestAnotherPageGetsNothing: a page of another origin, in the browser that has the cookie, can neither read nor frame this one.
func TestAnotherPageGetsNothing(t *testing.T) {
	b, l := browser(t), view(t, played(t))
	l.open(t, b)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<title>other</title>`)
	}))
	t.Cleanup(other.Close)
	require.NoError(t, chromedp.Do(b.Context, chromedp.Navigate(other.URL)))
	for _, mode := range []string{"cors", "no-cors"} {
		got := await[string](t, b, `new Promise(done => fetch('http://`+l.host+`/model', {credentials: 'include', mode: '`+mode+`'}).then(r => r.text()).then(t => done('got ' + t), e => done('refused')))`)
		assert.NotContains(t, got, "sessions", mode)
	}
	eval[bool](t, b, `(document.body.append(Object.assign(document.createElement('iframe'), {src: 'http://`+l.host+`/'})), true)`)
	framed := await[bool](t, b, `new Promise(done => { const f = document.querySelector('iframe'); f.onload = () => { let seen = false; try { seen = !!f.contentDocument.getElementById('views'); } catch {} done(seen); } })`)
	assert.False(t, framed)
}

// TestTheFileWorksOnce: the secret is in no address, history or list of processes, and the page opened once more says what to do.
func TestTheFileWorksOnce(t *testing.T) {
	b, h := browser(t), played(t)
	l := view(t, h)
	file, err := os.ReadFile(l.file)
	require.NoError(t, err)
	copied := filepath.Join(t.TempDir(), "again.html")
	require.NoError(t, os.WriteFile(copied, file, 0o600))
	token := hidden.FindStringSubmatch(string(file))[1]
	l.open(t, b)
	require.Eventually(t, func() bool { _, err := os.Stat(l.file); return os.IsNotExist(err) }, patience, tick, "the file is gone once it was used")
	history, err := chromedp.Run(b.Context, chromedp.NavigationEntries())
	require.NoError(t, err)
	raw, err := json.Marshal(history)
	require.NoError(t, err)
	assert.NotContains(t, string(raw), token)
	for _, address := range b.Fetched() {
		assert.NotContains(t, address, token)
	}
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, name := range lines {
		text, _ := os.ReadFile(name)
		assert.NotContains(t, string(text), token)
	}
	assert.Empty(t, eval[string](t, b, `document.cookie`), "no script sees the cookie")
	require.NoError(t, chromedp.Do(b.Context, chromedp.Navigate("file://"+copied)))
	until(t, b, `document.body && document.body.textContent.includes('run "mcp-pruner view" again')`)
}

// TestTheNetworkIsCut: without a network but loopback the page works, and it does not even try to ask anybody else. That a
// refusal would be seen is shown by one.
func TestTheNetworkIsCut(t *testing.T) {
	b, stop, err := chromium.Start(t.Context(), chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"))
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(stop)
	l := view(t, played(t))
	l.open(t, b)
	for _, tab := range []string{"prefix", "trace", "sessions"} {
		eval[bool](t, b, `(document.getElementById('tab-`+tab+`').click(), true)`)
		until(t, b, `document.documentElement.dataset.tab === '`+tab+`'`)
	}
	calm(t, b, l.host)
	refused := await[int](t, b, `new Promise(done => fetch('http://192.0.2.1/x').catch(() => setTimeout(() => done(window.refused.length))))`)
	assert.Positive(t, refused, "the policy refuses it, and the test sees that")
	more := await[int](t, b, `new Promise(done => { const s = document.createElement('script'); s.textContent = 'window.owned = 1'; document.body.append(s); setTimeout(() => done(window.refused.length)); })`)
	assert.Greater(t, more, refused)
	assert.False(t, eval[bool](t, b, `'owned' in window`))
}

// TestTheProgramEnds: the page says so, and stays.
func TestTheProgramEnds(t *testing.T) {
	b, h := browser(t), played(t)
	l := view(t, h)
	l.open(t, b)
	until(t, b, `document.querySelectorAll('#sessions .row').length === 1`)
	l.End()
	until(t, b, `document.getElementById('state').textContent.includes('does not answer')`)
	assert.Equal(t, 1, eval[int](t, b, `document.querySelectorAll('#sessions .row').length`))
}
