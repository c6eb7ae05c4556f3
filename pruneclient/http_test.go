package pruneclient_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient"
)

// service starts a pruning service and returns its URL.
func service(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	srv := httptest.NewServer(answer)
	t.Cleanup(srv.Close)
	return srv.URL + "/prune"
}

func answers(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// held returns a handler that answers only when the test ends.
func held(t *testing.T, began *atomic.Int32) http.HandlerFunc {
	t.Helper()
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	return func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		began.Add(1)
		select {
		case <-end:
		case <-r.Context().Done():
		}
	}
}

func newHTTP(t *testing.T, s pruneclient.HTTPSettings) *pruneclient.HTTP {
	t.Helper()
	h, err := pruneclient.NewHTTP(s)
	require.NoError(t, err)
	return h
}

func requireFailure(t *testing.T, err error, code pruneclient.ErrorCode) *pruneclient.Error {
	t.Helper()
	var failed *pruneclient.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, code, failed.Code, failed.Message)
	return failed
}

func TestHTTPSendsTheDocumentsRequest(t *testing.T) {
	half := 0.5
	for name, tc := range map[string]struct {
		threshold *float64
		want      string
	}{
		"plain":          {nil, `{"code":"a <b>\nc\rd\n","query":"why?"}` + "\n"},
		"with threshold": {&half, `{"code":"a <b>\nc\rd\n","query":"why?","threshold":0.5}` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			url := service(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				assert.Equal(t, http.MethodPost, r.Method)
				assert.Equal(t, "/prune", r.URL.Path)
				assert.Equal(t, "application/json", r.Header.Get("Content-Type"))
				assert.NotContains(t, r.Header, "Idempotency-Key")
				assert.Equal(t, tc.want, string(body))
				_, _ = io.WriteString(w, `{"pruned_code":"ok"}`)
			})
			h := newHTTP(t, pruneclient.HTTPSettings{URL: url, Threshold: tc.threshold})
			got, err := h.Prune(t.Context(), pruneclient.Request{Text: "a <b>\r\nc\rd\r\n", Question: "why?"})
			require.NoError(t, err)
			assert.Equal(t, "ok", got.Text)
		})
	}
}

func TestHTTPReadsAnswers(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	const invalid = pruneclient.InvalidResponse
	for name, tc := range map[string]struct {
		status int
		body   string
		text   string
		fails  pruneclient.ErrorCode
	}{
		"first field":               {200, `{"text":"c","content":"b","pruned_code":"a"}`, "a", ""},
		"second field":              {200, `{"text":"c","content":"b"}`, "b", ""},
		"third field":               {200, `{"text":"c"}`, "c", ""},
		"first string, not null":    {200, `{"pruned_code":null,"content":7,"text":"c"}`, "c", ""},
		"empty string is a text":    {200, `{"pruned_code":"","content":"b"}`, "", ""},
		"longer than what went":     {200, `{"pruned_code":"` + strings.Repeat("x", 99999) + `"}`, strings.Repeat("x", 99999), ""},
		"escapes":                   {200, `{"pruned_code":"a\n\u00e9\ud83d\ude00"}`, "a\né😀", ""},
		"token scores skipped":      {200, `{"token_scores":[["a",0.1],["b",[{"x":[]}]]],"pruned_code":"a"}`, "a", ""},
		"huge numbers":              {200, `{"score":1e999,"pruned_code":"a"}`, "a", ""},
		"white space around":        {200, "\r\n\t {\"pruned_code\":\"a\"}\n\n", "a", ""},
		"other success":             {201, `{"pruned_code":"a"}`, "a", ""},
		"other key twice":           {200, `{"score":1,"score":2,"pruned_code":"a"}`, "a", ""},
		"nested key twice":          {200, `{"pruned_code":"a","x":{"b":1,"b":2},"y":[{"a":1,"\u0061":2}]}`, "a", ""},
		"last of two":               {200, `{"pruned_code":"a","pruned_\u0063ode":"b"}`, "b", ""},
		"last of two, not a string": {200, `{"pruned_code":"a","text":"t","pruned_code":null}`, "t", ""},
		"deep":                      {200, `{"x":` + deep(100) + `,"pruned_code":"a"}`, "a", ""},
		"as deep as JSON goes":      {200, `{"x":` + deep(9999) + `,"pruned_code":"a"}`, "a", ""},
		"same key, other objects":   {200, `{"x":{"a":1,"b":{"a":1}},"y":{"a":1},"pruned_code":"a"}`, "a", ""},

		"deeper than JSON goes": {200, `{"x":` + deep(10000) + `,"pruned_code":"a"}`, "", invalid},
		"absurdly deep":         {200, `{"x":` + strings.Repeat("[", 1<<20), "", invalid},
		"keys match exactly":    {200, `{"Pruned_Code":"a"}`, "", invalid},
		"no field":              {200, `{"score":1}`, "", invalid},
		"field nested":          {200, `{"data":{"pruned_code":"a"}}`, "", invalid},
		"no string":             {200, `{"pruned_code":["a"]}`, "", invalid},
		"array":                 {200, `["pruned_code"]`, "", invalid},
		"string":                {200, `"pruned_code"`, "", invalid},
		"null":                  {200, `null`, "", invalid},
		"nothing":               {200, ``, "", invalid},
		"html":                  {200, `<html>`, "", invalid},
		"cut":                   {200, `{"pruned_code":"a"`, "", invalid},
		"two values":            {200, `{"pruned_code":"a"} {"pruned_code":"b"}`, "", invalid},
		"rubbish behind":        {200, `{"pruned_code":"a"}x`, "", invalid},
		"trailing comma":        {200, `{"pruned_code":"a",}`, "", invalid},
		"missing comma":         {200, `{"pruned_code":"a" "text":"b"}`, "", invalid},
		"NaN":                   {200, `{"score":NaN,"pruned_code":"a"}`, "", invalid},
		"Infinity in a list":    {200, `{"token_scores":[["a",Infinity]],"pruned_code":"a"}`, "", invalid},
		"invalid UTF-8":         {200, "{\"pruned_code\":\"a\xff\"}", "", invalid},
		"invalid UTF-8 skipped": {200, "{\"x\":[\"\xc3\"],\"pruned_code\":\"a\"}", "", invalid},
		"byte order mark":       {200, "\ufeff{\"pruned_code\":\"a\"}", "", invalid},
		"raw control character": {200, "{\"pruned_code\":\"a\nb\"}", "", invalid},
		"204":                   {204, ``, "", invalid},

		"not found":    {404, `{"pruned_code":"a"}`, "", pruneclient.HTTPError},
		"server error": {500, `{"pruned_code":"a"}`, "", pruneclient.HTTPError},
		"not modified": {304, ``, "", pruneclient.HTTPError},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHTTP(t, pruneclient.HTTPSettings{URL: service(t, answers(tc.status, tc.body))})
			got, err := h.Prune(t.Context(), pruneclient.Request{Text: "x", Question: "q"})
			if tc.fails != "" {
				requireFailure(t, err, tc.fails)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tc.text, got.Text)
		})
	}
}

func TestHTTPAnswerSizeLimit(t *testing.T) {
	const limit = 16 << 20
	for name, tc := range map[string]struct {
		size  int
		fails bool
	}{"at the limit": {limit, false}, "one byte more": {limit + 1, true}} {
		t.Run(name, func(t *testing.T) {
			head, tail := `{"pruned_code":"`, `é"}`
			body := head + strings.Repeat("x", tc.size-len(head)-len(tail)) + tail
			h := newHTTP(t, pruneclient.HTTPSettings{URL: service(t, answers(200, body))})
			got, err := h.Prune(t.Context(), pruneclient.Request{})
			if tc.fails {
				requireFailure(t, err, pruneclient.InvalidResponse)
				return
			}
			require.NoError(t, err)
			assert.Len(t, got.Text, tc.size-len(head)-len(tail)+len("é"))
		})
	}
}

// An answer far over the limit must be refused before it is read completely: the service sees its
// connection closed.
func TestHTTPStopsReadingAtTheLimit(t *testing.T) {
	stopped := make(chan struct{})
	h := newHTTP(t, pruneclient.HTTPSettings{URL: service(t, func(w http.ResponseWriter, _ *http.Request) {
		defer close(stopped)
		_, _ = io.WriteString(w, `{"token_scores":[`)
		for {
			if _, err := io.WriteString(w, `"`+strings.Repeat("t", 1<<20)+`",`); err != nil {
				return
			}
		}
	})})
	_, err := h.Prune(t.Context(), pruneclient.Request{})
	failed := requireFailure(t, err, pruneclient.InvalidResponse)
	assert.Equal(t, "the answer is larger than 16 MiB", failed.Message)
	<-stopped
}

func TestHTTPShortBody(t *testing.T) {
	for name, body := range map[string]string{
		"valid JSON":   `{"pruned_code":"a"}`,
		"invalid JSON": `nonsense`,
		"cut JSON":     `{"pruned_code":"a`,
	} {
		t.Run(name, func(t *testing.T) {
			h := newHTTP(t, pruneclient.HTTPSettings{URL: service(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "1000")
				_, _ = io.WriteString(w, body)
			})})
			_, err := h.Prune(t.Context(), pruneclient.Request{})
			requireFailure(t, err, pruneclient.HTTPError)
		})
	}
}

func TestHTTPFollowsNoRedirect(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			var followed atomic.Int32
			elsewhere := service(t, func(w http.ResponseWriter, _ *http.Request) {
				followed.Add(1)
				_, _ = io.WriteString(w, `{"pruned_code":"a"}`)
			})
			h := newHTTP(t, pruneclient.HTTPSettings{URL: service(t, func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, elsewhere, status)
			})})
			_, err := h.Prune(t.Context(), pruneclient.Request{})
			requireFailure(t, err, pruneclient.HTTPError)
			assert.Zero(t, followed.Load())
		})
	}
}

func TestHTTPUnreachable(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	_, err := newHTTP(t, pruneclient.HTTPSettings{URL: gone.URL}).Prune(t.Context(), pruneclient.Request{})
	assert.Equal(t, "connection refused", requireFailure(t, err, pruneclient.HTTPError).Message)
}

// Messages and events must not contain the service's text or the URL's secrets, because both are logged.
func TestHTTPKeepsSecretsToItself(t *testing.T) {
	quotes := func(answer string) string { // a server that writes raw bytes
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = c.Read(make([]byte, 4096))
				_, _ = io.WriteString(c, answer)
				_ = c.Close()
			}
		}()
		return "http://" + l.Addr().String()
	}
	for name, base := range map[string]string{
		"bad status line": quotes("HTTP/1.1 SERVICETEXT\r\n\r\n"),
		"bad header":      quotes("HTTP/1.1 200 OK\r\nSERVICETEXT\r\n\r\n"),
		"status text":     quotes("HTTP/1.1 500 SERVICETEXT\r\nContent-Length: 0\r\n\r\n"),
		"bad JSON":        quotes("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nSERVICETEXT"),
		"refused":         "http://127.0.0.1:1",
	} {
		t.Run(name, func(t *testing.T) {
			h := newHTTP(t, pruneclient.HTTPSettings{URL: strings.Replace(base, "//", "//user:hunter2@", 1) + "/p?key=hunter2#hunter2"})
			assert.Equal(t, base+"/p", h.Endpoint())
			_, err := h.Prune(t.Context(), pruneclient.Request{})
			require.Error(t, err)
			for _, secret := range []string{"SERVICETEXT", "hunter2", "user"} {
				assert.NotContains(t, err.Error(), secret)
			}
		})
	}
	_, err := pruneclient.NewHTTP(pruneclient.HTTPSettings{URL: "http://user:hunter2@[bad/"})
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "hunter2")
}

func TestHTTPSendsCredentials(t *testing.T) {
	h := newHTTP(t, pruneclient.HTTPSettings{URL: strings.Replace(service(t, func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		_ = json.NewEncoder(w).Encode(map[string]string{"text": user + ":" + password + "?" + r.URL.RawQuery})
	}), "//", "//me:secret@", 1) + "?key=k"})
	got, err := h.Prune(t.Context(), pruneclient.Request{})
	require.NoError(t, err)
	assert.Equal(t, "me:secret?key=k", got.Text)
}

func TestHTTPTimeoutCoversTheWholeCall(t *testing.T) {
	var began atomic.Int32
	slowBody := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		_, _ = io.WriteString(w, `{"pruned_code":`)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	for name, answer := range map[string]http.HandlerFunc{"no answer": held(t, &began), "half an answer": slowBody} {
		t.Run(name, func(t *testing.T) {
			h := newHTTP(t, pruneclient.HTTPSettings{URL: service(t, answer), Timeout: 60 * time.Millisecond})
			start := time.Now()
			_, err := h.Prune(t.Context(), pruneclient.Request{})
			assert.Equal(t, "no answer within 60 ms", requireFailure(t, err, pruneclient.Timeout).Message)
			assert.Less(t, time.Since(start), time.Minute)
		})
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestHTTPWaitsForItsTurnWithinTheTimeout(t *testing.T) {
	var now, most atomic.Int32
	silent := transport(func(r *http.Request) (*http.Response, error) {
		most.Store(max(most.Load(), now.Add(1)))
		<-r.Context().Done()
		now.Add(-1)
		return nil, r.Context().Err()
	})
	h := newHTTP(t, pruneclient.HTTPSettings{
		URL: "http://pruner/", Timeout: 50 * time.Millisecond, MaxInflight: 2, Client: &http.Client{Transport: silent},
	})
	failures := make(chan error, 6)
	start := time.Now()
	for range cap(failures) {
		go func() {
			_, err := h.Prune(t.Context(), pruneclient.Request{})
			failures <- err
		}()
	}
	for range cap(failures) {
		requireFailure(t, <-failures, pruneclient.Timeout)
	}
	assert.EqualValues(t, 2, most.Load(), "calls at once")
	assert.Less(t, time.Since(start), time.Minute)
}

func TestHTTPCallsGoAheadWhenOneEnds(t *testing.T) {
	h := newHTTP(t, pruneclient.HTTPSettings{URL: service(t, answers(200, `{"text":"a"}`)), MaxInflight: 1})
	for range 3 {
		_, err := h.Prune(t.Context(), pruneclient.Request{})
		require.NoError(t, err)
	}
}

func TestHTTPCancellationIsNoFailure(t *testing.T) {
	var began atomic.Int32
	h := newHTTP(t, pruneclient.HTTPSettings{URL: service(t, held(t, &began)), MaxInflight: 1})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	for range cap(ended) { // one call in progress, one waiting
		go func() {
			_, err := h.Prune(ctx, pruneclient.Request{})
			ended <- err
		}()
	}
	require.Eventually(t, func() bool { return began.Load() == 1 }, time.Minute, time.Millisecond)
	cancel()
	for range cap(ended) {
		err := <-ended
		require.ErrorIs(t, err, context.Canceled)
		assert.NotErrorAs(t, err, new(*pruneclient.Error))
	}
}

func TestNewHTTPRefusesSettings(t *testing.T) {
	for _, url := range []string{"", "localhost:8000/prune", "/prune", "ftp://host/prune", "http://", "http:///prune", "http://:80/"} {
		_, err := pruneclient.NewHTTP(pruneclient.HTTPSettings{URL: url})
		assert.EqualError(t, err, "pruner URL must be an absolute http or https URL", url)
	}
	_, err := pruneclient.NewHTTP(pruneclient.HTTPSettings{URL: "http://h/", Timeout: -1})
	assert.Error(t, err)
}
