// Package deepinfra scores documents against a question with a reranking model
// in the cloud. It is the opt-in backend of the line pruner: what is scored
// leaves the machine.
package deepinfra

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
)

const (
	DefaultEndpoint      = "https://api.deepinfra.com/v1/inference/Qwen/Qwen3-Reranker-0.6B"
	DefaultTimeout       = 20 * time.Second
	DefaultMaxDocs       = 64
	DefaultCacheTTL      = 30 * time.Second
	DefaultCacheMaxItems = 256

	// MaxDocs is the most documents one call may send, whatever is asked for.
	MaxDocs = 512

	maxAnswerBytes = 16 << 20
)

// Settings say where the model is and who calls it.
type Settings struct {
	Endpoint string        // absolute http or https URL; "" means DefaultEndpoint
	Key      string        // sent, trimmed, as a bearer token and nowhere else; none makes every call a ConfigError
	Timeout  time.Duration // of one call, both forms of the request together; 0 means DefaultTimeout
	MaxDocs  int           // documents per call; 0 means DefaultMaxDocs; cut to 1..MaxDocs

	CacheTTL      *time.Duration // nil means DefaultCacheTTL; 0 turns the cache off
	CacheMaxItems *int           // nil means DefaultCacheMaxItems; 0 turns the cache off

	Client *http.Client // nil means one of our own; its redirect policy is replaced
	Now    func() time.Time
}

// Client calls the model. It is safe for concurrent use.
type Client struct {
	settings Settings
	client   *http.Client
	cache    *cache
	form     atomic.Int32 // the request form that worked last
}

// Scores are the model's scores for some documents.
type Scores struct {
	Of      []float64     // one per document; -Inf where the model gave none
	Cached  bool          // from the cache, or from a call somebody else had under way
	Latency time.Duration // 0 when cached
}

// ErrorKind is the document's warning for a failed call.
type ErrorKind string

const (
	HTTPError   ErrorKind = "deepinfra_http_error"   // no answer, or not a success
	ParseError  ErrorKind = "deepinfra_parse_error"  // an answer without usable scores
	ConfigError ErrorKind = "deepinfra_config_error" // nothing was sent: there is no key, or one that cannot be
)

// Error is a failed call. It quotes neither the key nor what was sent or received.
type Error struct {
	Kind   ErrorKind
	Status int // of an answer that was not a success, else 0
}

func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s: HTTP %d", e.Kind, e.Status)
	}
	return string(e.Kind)
}

// New returns a client. Nothing is sent before the first Score.
func New(s Settings) (*Client, error) {
	s.Endpoint = cmp.Or(s.Endpoint, DefaultEndpoint)
	u, err := url.Parse(s.Endpoint)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return nil, errors.New("the DeepInfra endpoint must be an absolute http or https URL")
	}
	s.Key = strings.TrimSpace(s.Key)
	s.Timeout = cmp.Or(s.Timeout, DefaultTimeout)
	s.MaxDocs = min(max(cmp.Or(s.MaxDocs, DefaultMaxDocs), 1), MaxDocs)
	if s.Now == nil {
		s.Now = time.Now
	}
	c := &Client{settings: s, client: withoutRedirects(s.Client), cache: newCache(s)}
	if !strings.Contains(s.Endpoint, "Qwen3-Reranker") { // the default model
		c.form.Store(oneQuery)
	}
	return c, nil
}

// MaxDocs is how many documents one call takes.
func (c *Client) MaxDocs() int { return c.settings.MaxDocs }

// Score asks the model how well each document answers the question. The same
// question about the same documents is asked once: from the cache, or by sharing
// the call that is under way. It fails with an *Error, or with ctx's error when
// the caller gave up.
func (c *Client) Score(ctx context.Context, question string, documents []string) (Scores, error) {
	if c.settings.Key == "" || strings.ContainsFunc(c.settings.Key, unicode.IsControl) {
		return Scores{}, &Error{Kind: ConfigError}
	}
	key := cacheKey(c.settings.Endpoint, c.settings.MaxDocs, question, documents)
	start := c.settings.Now()
	scores, cached, err := c.cache.do(ctx, key, func(ctx context.Context) ([]float64, error) {
		return c.call(ctx, question, documents)
	})
	if err != nil {
		return Scores{}, err
	}
	if cached {
		return Scores{Of: scores, Cached: true}, nil
	}
	return Scores{Of: scores, Latency: c.settings.Now().Sub(start)}, nil
}

// The two forms of request: the default model documents a list of queries, other
// endpoints one query.
const (
	queryList int32 = iota
	oneQuery
)

// call posts the request; an endpoint that refuses the form gets the other one
// once, and the form that worked is used first from then on.
func (c *Client) call(ctx context.Context, question string, documents []string) ([]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, c.settings.Timeout)
	defer cancel()
	form := c.form.Load()
	scores, err := c.post(ctx, form, question, documents)
	var failed *Error
	if errors.As(err, &failed) && (failed.Status == http.StatusBadRequest || failed.Status == http.StatusUnprocessableEntity) {
		form = queryList + oneQuery - form
		scores, err = c.post(ctx, form, question, documents)
	}
	if err == nil {
		c.form.Store(form)
	}
	return scores, err
}

func (c *Client) post(ctx context.Context, form int32, question string, documents []string) ([]float64, error) {
	body, err := encode(form, question, documents)
	if err != nil {
		return nil, &Error{Kind: HTTPError}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.settings.Endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, &Error{Kind: HTTPError}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.settings.Key)
	resp, err := c.client.Do(req)
	if err != nil {
		return nil, &Error{Kind: HTTPError}
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, &Error{Kind: HTTPError, Status: resp.StatusCode}
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes+1))
	if err != nil {
		return nil, &Error{Kind: HTTPError}
	}
	if len(answer) > maxAnswerBytes {
		return nil, &Error{Kind: ParseError}
	}
	return parse(answer, len(documents))
}

func encode(form int32, question string, documents []string) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	var err error
	if form == queryList {
		err = enc.Encode(struct {
			Queries   []string `json:"queries"`
			Documents []string `json:"documents"`
		}{[]string{question}, documents})
	} else {
		err = enc.Encode(struct {
			Query     string   `json:"query"`
			Documents []string `json:"documents"`
		}{question, documents})
	}
	return out.Bytes(), err
}

// withoutRedirects keeps the key with the host it was meant for.
func withoutRedirects(c *http.Client) *http.Client {
	own := http.Client{}
	if c != nil {
		own = *c
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}
