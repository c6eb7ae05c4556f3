// Package proxy is a reverse proxy between an agent and its model's API. It replaces tool results that the
// planner cleared by stubs, and may prune new results. Everything else passes through unchanged, and so
// does every request when an error occurs in the proxy.
package proxy

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/fsm/event"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
	"github.com/mcp-pruner/mcp-pruner/states/clearing"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// maxBody is the size in bytes of the largest request that is parsed; larger ones pass through.
const maxBody = 64 << 20

// decideWithin is the time limit for decisions. After it a request passes through with only the earlier
// decisions applied.
const decideWithin = 2 * time.Second

// server is the proxy's handler.
type server struct {
	secret   secret.Secret // of the clients; "": none is asked for
	refusals refusals
	upstream *url.URL         // nil: each request goes to the provider that it names
	engine   *clearing.Engine // nil: everything passes through
	runs     *clearing.Runs   // nil if engine is nil
	patience time.Duration
	emit     func(event.Event)
	usage    func(contextgc.Usage)
	feed     func(c *wire.Conversation, client string)
	feeding  sync.WaitGroup
	proxy    *httputil.ReverseProxy
}

func newServer(upstream *url.URL, e *clearing.Engine, r *clearing.Runs, emit func(event.Event)) *server {
	if e != nil {
		e.Report = func(err error) { emit(event.New("ledger.failed", "", event.Facts{"message": err.Error()})) }
	}
	s := &server{upstream: upstream, engine: e, runs: r, patience: decideWithin, emit: emit,
		usage: func(contextgc.Usage) {}, feed: func(*wire.Conversation, string) {}}
	s.proxy = &httputil.ReverseProxy{
		Rewrite: s.rewrite, FlushInterval: -1, // each piece of a stream is forwarded at once
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 128,
			IdleConnTimeout: 90 * time.Second, DisableCompression: true, // bodies are forwarded as they are
		},
		ModifyResponse: s.listen, ErrorHandler: s.unreachable,
		ErrorLog: log.New(io.Discard, "", 0), // standard error belongs to the event log
	}
	return s
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.admit(w, r) {
		return
	}
	to := s.upstream
	if to == nil {
		p, why := wire.Route(r)
		if p == nil {
			s.misdirected(w, r, why)
			return
		}
		to = p.URL
	}
	r = r.WithContext(context.WithValue(r.Context(), targetKey{}, to))
	if a := wire.APIOf(r.URL.Path); a != nil && s.engine != nil && r.Method == http.MethodPost {
		r = s.prepare(r, a)
	}
	s.proxy.ServeHTTP(w, r)
}

// misdirected refuses a request that names no single provider. It is sent nowhere.
func (s *server) misdirected(w http.ResponseWriter, r *http.Request, why string) {
	s.emit(event.New("proxy.refused", "", event.Facts{"reason": "misdirected", "message": why}))
	refuse(w, r, http.StatusMisdirectedRequest, fmt.Sprintf("%s %s is sent nowhere, because %s; a key must not reach another company. "+
		"To send every request to one address, start the proxy with --upstream URL", r.Method, r.URL.Path, why))
}

// targetKey is the context key of the address to which a request goes.
type targetKey struct{}

// rewrite sets a request's address to the upstream.
func (s *server) rewrite(r *httputil.ProxyRequest) {
	to := r.In.Context().Value(targetKey{}).(*url.URL)
	r.SetURL(to)
	r.Out.Host = to.Host
	if _, given := r.In.Header["User-Agent"]; !given {
		r.Out.Header["User-Agent"] = nil
	}
}

// exchangeKey is the context key of a request's exchange.
type exchangeKey struct{}

// exchange is a request that was parsed.
type exchange struct {
	api     *wire.API
	session string
	outcome clearing.Outcome
}

// prepare rewrites a request's body. After any error the body is sent as it came.
func (s *server) prepare(r *http.Request, a *wire.API) *http.Request {
	body, rest, err := readBody(r)
	if err != nil || rest {
		return r
	}
	plain, ok := decoded(r, body)
	if !ok {
		setBody(r, body, false)
		return r
	}
	x := s.understand(r, a, plain)
	if x == nil || len(x.outcome.Body) == 0 || bytes.Equal(x.outcome.Body, plain) {
		setBody(r, body, false)
	} else {
		setBody(r, x.outcome.Body, true)
	}
	if x == nil {
		return r
	}
	return r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
}

// understand parses the request and decides on its replacements. It returns nil if the request is not
// understood. It recovers from panics, because no bug in the proxy may cost a client its request.
func (s *server) understand(r *http.Request, a *wire.API, body []byte) (x *exchange) {
	defer func() {
		if p := recover(); p != nil {
			x = nil
			s.emit(event.New("proxy.passed_through", "", event.Facts{"api": a.Name, "reason": "panic"}))
		}
	}()
	c, err := a.Parse(body)
	if err != nil {
		s.emit(event.New("proxy.passed_through", "", event.Facts{"api": a.Name, "reason": "not_understood"}))
		return nil
	}
	c.Alias(r.Header.Get("X-Session-Id")) // opencode's session id
	client := clientOf(r.Header.Get("User-Agent"))
	s.runs.Session(c.Session, client)
	ctx, cancel := context.WithTimeout(r.Context(), s.patience)
	defer cancel()
	o, err := s.engine.Rewrite(ctx, c, client, !a.Counts)
	if err != nil {
		if s.refusals.first("store_failed") || !errors.Is(err, clearing.ErrLost) {
			s.emit(event.New("proxy.passed_through", "", event.Facts{"api": a.Name, "reason": "store_failed", "message": err.Error()}))
		}
		s.runs.Failed(c.Session)
		o = s.engine.Known(c)
	}
	s.engine.Tell(a.Name, c, o)
	if !a.Counts {
		s.feeding.Go(func() { // the request does not wait for the ledger
			if errors.Is(err, clearing.ErrLost) {
				return
			}
			s.feed(c, client)
			if err := s.engine.Flush(context.WithoutCancel(r.Context())); err != nil {
				s.emit(event.New("ledger.failed", "", event.Facts{"message": err.Error()}))
			}
		})
	}
	return &exchange{api: a, session: c.Session, outcome: o}
}

// clientOf returns the client's name from the start of its User-Agent.
func clientOf(agent string) string {
	name, _, _ := strings.Cut(agent, "/")
	name, _, _ = strings.Cut(name, " ")
	if name == "" {
		return "proxy"
	}
	return name[:min(len(name), 64)]
}

// readBody reads a request's body. rest reports that the body is too large: it is then restored and passes
// through.
func readBody(r *http.Request) (body []byte, rest bool, err error) {
	if r.ContentLength > maxBody {
		return nil, true, nil
	}
	var buf bytes.Buffer
	if r.ContentLength > 0 {
		buf.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	_, err = buf.ReadFrom(io.LimitReader(r.Body, maxBody+1))
	if err == nil && buf.Len() <= maxBody {
		return buf.Bytes(), false, nil
	}
	// A body that the client did not send completely must not look complete to the upstream.
	tail := io.Reader(r.Body)
	if err != nil {
		tail = failing{err}
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(buf.Bytes()), tail), r.Body}
	return nil, true, err
}

type failing struct{ err error }

// Read implements io.Reader.
func (f failing) Read([]byte) (int, error) { return 0, f.err }

// decoded returns a body without its compression. ok is false for an unknown compression.
func decoded(r *http.Request, body []byte) (plain []byte, ok bool) {
	switch strings.ToLower(r.Header.Get("Content-Encoding")) {
	case "", "identity":
		return body, true
	case "gzip":
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, false
		}
		plain, err = io.ReadAll(io.LimitReader(z, maxBody+1))
		return plain, err == nil && len(plain) <= maxBody
	}
	return nil, false
}

// setBody sets the request's body. A changed body is sent uncompressed.
func setBody(r *http.Request, body []byte, changed bool) {
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	r.TransferEncoding = nil
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	if changed {
		r.Header.Del("Content-Encoding")
	}
}

// unreachable answers with an error of the proxy's own when the upstream cannot be reached.
func (s *server) unreachable(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() == nil {
		s.emit(event.New("proxy.upstream_failed", "", event.Facts{"message": "the upstream cannot be reached: " + failure(err)}))
	}
	refuse(w, r, http.StatusBadGateway, "the upstream cannot be reached")
}

// failure says what kind of error a round trip ended with. It never returns an error's own text: those of net/http quote
// what the other side sent, which is a part of the conversation, and addresses, which may contain a key.
func failure(err error) string {
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var late net.Error
	var op *net.OpError
	switch {
	case errors.As(err, &name):
		return "its name cannot be resolved"
	case errors.As(err, &certificate):
		return "its certificate is not trusted"
	case errors.As(err, &record):
		return "it does not speak TLS"
	case errors.As(err, &late) && late.Timeout():
		return "it did not answer in time"
	case errors.As(err, &op) && op.Op == "dial":
		return "it refuses connections"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), op != nil:
		return "the connection was closed before the answer"
	}
	return "its answer is not HTTP, or the connection failed"
}
