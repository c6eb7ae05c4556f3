package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/running"
)

// upstream is the model's API behind the proxy. It keeps the last request, without headers that name a length or a port.
type upstream struct {
	*httptest.Server
	mu   sync.Mutex
	last string
}

func newUpstream() *upstream {
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a cut body is a difference like any other
		if packed, err := gzip.NewReader(bytes.NewReader(body)); err == nil {
			body, _ = io.ReadAll(packed)
		}
		u.mu.Lock()
		u.last = fmt.Sprintf("%s %s\n%s\n%s", r.Method, r.URL, headers(r.Header), body)
		u.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(r.URL.Path, "fail") {
			w.WriteHeader(http.StatusTooManyRequests)
		}
		_, _ = io.WriteString(w, `{"id":"m","usage":{"input_tokens":900,"cache_read_input_tokens":100,"output_tokens":20},"content":[{"type":"text","text":"done"}]}`)
	}))
	return u
}

func (u *upstream) reset() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.last = "(nothing)"
}

func (u *upstream) received() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.last
}

// headers lists headers in the order of their names. Date is left out, because it is the clock.
func headers(all http.Header) string {
	var lines []string
	for name, values := range all {
		if name != "Date" {
			lines = append(lines, name+": "+strings.Join(values, ", "))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// proxy plays a client's share of the requests in one conversation, to which each adds a result. The first half goes to a
// proxy that prunes and clears, the second half to another one of the same state folder, as after a restart.
func (s *stand) proxy(c client) (all []exchange, err error) {
	n := s.size.requests / 4 // of the clients that have recorded results
	if c.hooks == "" || n == 0 {
		return nil, nil
	}
	for _, half := range [][2]int{{0, n / 2}, {n / 2, n}} {
		some, err := s.requests(c, half[0], half[1])
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

func (s *stand) requests(c client, from, to int) (all []exchange, err error) {
	address, end, err := s.startProxy()
	if err != nil {
		return nil, err
	}
	masker := newMasker()
	for i := from; i < to; i++ {
		path, body, err := s.conversation(c, i+1)
		if err != nil {
			return nil, err
		}
		request, err := http.NewRequest(http.MethodPost, address+path, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		request.Header.Set("Content-Type", "application/json")
		spoil(request, i)
		s.upstream.reset()
		got, err := s.send(request)
		if err != nil {
			return nil, err
		}
		all = append(all, exchange{fmt.Sprintf("request %d %s", i, path), masker.mask(got)})
	}
	return all, end()
}

// spoil changes some requests into ones that the proxy refuses, does not understand, or forwards unseen.
func spoil(r *http.Request, i int) {
	switch i % 10 {
	case 3: // without the secret
		r.URL.Path = "/v1" + r.URL.Path[strings.LastIndex(r.URL.Path, "/v1")+len("/v1"):]
	case 4:
		r.URL.Path += "/fail"
	case 5:
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = io.Copy(w, r.Body) // neither end can fail
		_ = w.Close()
		r.Body, r.ContentLength = io.NopCloser(&packed), int64(packed.Len())
		r.Header.Set("Content-Encoding", "gzip")
	case 6:
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(`{"messages":`)), int64(len(`{"messages":`))
	case 7:
		r.Header.Set("Origin", "https://example.com")
	}
}

// send returns what came back and what the upstream got.
func (s *stand) send(r *http.Request) (string, error) {
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s\n%s\n%s\nupstream: %s", answer.Status, headers(answer.Header), body, s.upstream.received()), nil
}

// startProxy starts the proxy and returns its address with the secret.
func (s *stand) startProxy() (address string, end func() error, err error) {
	return running.Proxy(s.start([]string{"MCP_PRUNER_OTHER_TOOLS=all"}, "proxy", "--policy", "both", "--upstream", s.upstream.URL), patience)
}

// conversation returns the path and the body of a request whose history has n results.
func (s *stand) conversation(c client, n int) (path string, body []byte, err error) {
	own := s.recorded(c)
	var whole object
	for i := range n {
		var one string
		path, one = own[i%len(own)].Request()
		var m object
		if err := json.Unmarshal([]byte(strings.ReplaceAll(one, `"t1"`, fmt.Sprintf(`"t%d"`, i))), &m); err != nil {
			return "", nil, err
		}
		if whole == nil {
			whole = m
			continue
		}
		for _, list := range []string{"messages", "input", "contents"} {
			if more, ok := m[list].([]any); ok {
				earlier, _ := whole[list].([]any)
				whole[list] = append(earlier, more...)
			}
		}
	}
	return path, []byte(encode(whole)), nil
}
