package pruneclient

import (
	"bytes"
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

// Defaults of HTTPSettings.
const (
	DefaultTimeout     = 30 * time.Second
	DefaultMaxInflight = 2 // the reference service works on one request at a time
)

// HTTPSettings says where a pruning service is and how to call it.
type HTTPSettings struct {
	URL         string        // absolute, http or https; path, query and userinfo are used as given
	Timeout     time.Duration // of a whole call, waiting for its turn included; 0 means DefaultTimeout
	MaxInflight int           // calls under way at once; 0 means DefaultMaxInflight
	Threshold   *float64      // sent with each request when not nil
	Client      *http.Client  // nil means one of our own; its redirect policy is replaced
}

// HTTP prunes through a swe-pruner service: {code, query} in, the pruned text
// out.
type HTTP struct {
	url       string
	endpoint  string
	timeout   time.Duration
	threshold *float64
	client    *http.Client
	turns     chan struct{} // one token per call under way
}

// NewHTTP returns a Pruner for the service at s.URL.
func NewHTTP(s HTTPSettings) (*HTTP, error) {
	u, err := url.Parse(s.URL)
	// url.Parse quotes its input, credentials and all, so its error stays here.
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return nil, errors.New("pruner URL must be an absolute http or https URL")
	}
	if s.Timeout < 0 || s.MaxInflight < 0 {
		return nil, fmt.Errorf("pruner timeout %v and calls at once %d must not be negative", s.Timeout, s.MaxInflight)
	}
	return &HTTP{
		url:       s.URL,
		endpoint:  publicURL(u),
		timeout:   orDefault(s.Timeout, DefaultTimeout),
		threshold: s.Threshold,
		client:    withoutRedirects(s.Client),
		turns:     make(chan struct{}, orDefault(s.MaxInflight, DefaultMaxInflight)),
	}, nil
}

// Endpoint is the service's URL without userinfo, query and fragment, which may
// hold secrets.
func (h *HTTP) Endpoint() string { return h.endpoint }

// Prune sends one text and returns what the service made of it. Everything,
// waiting for a turn and reading the body included, happens within the timeout.
func (h *HTTP) Prune(ctx context.Context, req Request) (Result, error) {
	call, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	text, err := h.inTurn(call, req)
	if err == nil {
		return Result{Text: text}, nil
	}
	// The caller giving up is no failure of the pruner, whatever it looks like here.
	if ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	if call.Err() != nil {
		return Result{}, &Error{Timeout, fmt.Sprintf("no answer within %d ms", h.timeout.Milliseconds())}
	}
	return Result{}, err
}

// inTurn waits until fewer than MaxInflight calls are under way, then calls.
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
	// Not sent: an empty list tells net/http that the call may be repeated, which
	// it does when an idle connection turns out to be closed.
	r.Header["Idempotency-Key"] = nil
	resp, err := h.client.Do(r)
	if err != nil {
		return "", &Error{HTTPError, reachFailure(err)}
	}
	defer func() { _ = resp.Body.Close() }()
	return readAnswer(resp)
}

// body renders the request. The real service counts lines wrongly on CRLF and
// then keeps the wrong ones, so it is given LF.
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

// reachFailure says why no answer came. It picks from known causes: the text of
// err holds the URL and may quote what the service sent.
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

// withoutRedirects returns a client that hands 3xx answers back: source text
// must not follow a redirect to somewhere nobody configured.
func withoutRedirects(c *http.Client) *http.Client {
	own := http.Client{}
	if c != nil {
		own = *c
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

func publicURL(u *url.URL) string {
	public := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return public.String()
}

func orDefault[T time.Duration | int](value, fallback T) T {
	if value == 0 {
		return fallback
	}
	return value
}
