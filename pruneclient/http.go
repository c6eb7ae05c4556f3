package pruneclient

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
)

const (
	defaultTimeout     = 30 * time.Second
	defaultMaxInflight = 2 // the reference service processes one request at a time
)

// HTTPSettings holds the address of a pruning service and the limits of calls to it.
type HTTPSettings struct {
	URL         string        // absolute, http or https; path, query and userinfo are used as given
	Timeout     time.Duration // of a whole call, including the wait for a free slot; 0 means defaultTimeout
	MaxInflight int           // concurrent calls; 0 means DefaultMaxInflight
	Threshold   *float64      // sent with each request when not nil
	Client      *http.Client  // nil means a new client; its redirect policy is replaced
}

// HTTP prunes through a swe-pruner service: it sends {code, query} and receives the pruned text.
type HTTP struct {
	url       string
	endpoint  string
	timeout   time.Duration
	threshold *float64
	client    *http.Client
	turns     chan struct{} // one token per call in progress
}

// NewHTTP returns a Pruner for the service at s.URL.
func NewHTTP(s HTTPSettings) (*HTTP, error) {
	u, err := url.Parse(s.URL)
	// url.Parse quotes its input including credentials, so its error is not passed on.
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return nil, errors.New("pruner URL must be an absolute http or https URL")
	}
	if s.Timeout < 0 || s.MaxInflight < 0 {
		return nil, fmt.Errorf("pruner timeout %v and calls at once %d must not be negative", s.Timeout, s.MaxInflight)
	}
	return &HTTP{
		url:       s.URL,
		endpoint:  (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String(),
		timeout:   cmp.Or(s.Timeout, defaultTimeout),
		threshold: s.Threshold,
		client:    withoutRedirects(s.Client),
		turns:     make(chan struct{}, cmp.Or(s.MaxInflight, defaultMaxInflight)),
	}, nil
}

// Endpoint returns the service's URL without userinfo, query and fragment, which may contain secrets.
func (h *HTTP) Endpoint() string { return h.endpoint }

// Prune sends one text and returns the service's pruned text. The timeout covers everything, including the
// wait for a free slot and the reading of the body.
func (h *HTTP) Prune(ctx context.Context, req Request) (Result, error) {
	call, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	text, err := h.inTurn(call, req)
	if err == nil {
		return Result{Text: text}, nil
	}
	// A cancellation by the caller is not a failure of the pruner, whatever the error looks like.
	if ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	if call.Err() != nil {
		return Result{}, &Error{Timeout, fmt.Sprintf("no answer within %d ms", h.timeout.Milliseconds())}
	}
	return Result{}, err
}

// inTurn waits until fewer than MaxInflight calls are in progress, then calls.
func (h *HTTP) inTurn(ctx context.Context, req Request) (string, error) {
	select {
	case h.turns <- struct{}{}:
		defer func() { <-h.turns }()
		return h.post(ctx, req)
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (h *HTTP) post(ctx context.Context, req Request) (string, error) {
	body, err := h.body(req)
	if err != nil {
		return "", &Error{HTTPError, "the request cannot be encoded"}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(body))
	if err != nil {
		return "", &Error{HTTPError, "the request cannot be built"}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	// An empty list is not sent, but tells net/http that the call may be repeated, which it does when an
	// idle connection turns out to be closed.
	r.Header["Idempotency-Key"] = nil
	resp, err := h.client.Do(r)
	if err != nil {
		return "", &Error{HTTPError, reachFailure(err)}
	}
	defer func() { _ = resp.Body.Close() }()
	return readAnswer(resp)
}

// body encodes the request. The reference service miscounts lines that end in CRLF and then keeps the wrong
// ones, so they are converted to LF.
func (h *HTTP) body(req Request) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		Code      string   `json:"code"`
		Query     string   `json:"query"`
		Threshold *float64 `json:"threshold,omitempty"`
	}{strings.ReplaceAll(req.Text, "\r\n", "\n"), req.Question, h.threshold})
	return out.Bytes(), err
}

// reachFailure returns the reason why there was no answer, chosen from known causes. The text of err is not
// used, because it contains the URL and may quote the service.
func reachFailure(err error) string {
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return "the host name of the pruner cannot be resolved"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection closed by the pruner"
	default:
		return "the request failed before an answer came"
	}
}

// withoutRedirects returns a client that returns 3xx answers as they are: source text must not be sent to
// an address that was not configured.
func withoutRedirects(c *http.Client) *http.Client {
	own := http.Client{}
	if c != nil {
		own = *c
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}
