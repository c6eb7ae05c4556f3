package proxy

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/states/clearing"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

func newServer(upstream *url.URL, r *clearing.Runs, emit func(fsm.Event)) *server {
	s := &server{upstream: upstream, runs: r, patience: decideWithin, emit: emit, health: health{emit: emit, retry: tryAgainAfter}}
	s.proxy = &httputil.ReverseProxy{
		Rewrite: s.rewrite, FlushInterval: -1, // each piece of a stream is forwarded at once
		Transport: again{&http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 128,
			IdleConnTimeout: 90 * time.Second, DisableCompression: true, // bodies are forwarded as they are
		}},
		ModifyResponse: s.listen, ErrorHandler: s.unreachable,
		ErrorLog: log.New(io.Discard, "", 0), // standard error belongs to the event log
	}
	return s
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect {
		refuse(w, r, http.StatusMethodNotAllowed, "CONNECT is refused, because this is no forward proxy: its address belongs into a base URL, not into HTTPS_PROXY")
		return
	}
	if s.gate != nil && s.answerProbe(w, r) {
		return
	}
	r, admitted := s.admit(w, r)
	if !admitted {
		return
	}
	if s.aboutItself(w, r) {
		return
	}
	s.health.requests.Add(1)
	s.health.active.Add(1)
	defer s.health.active.Add(-1)
	to, why := s.target(r)
	if why == "" && to.workspaces != nil {
		if why = s.toWorkspace(w, r, &to); why == answered {
			return
		}
	}
	if why != "" {
		s.misdirected(w, r, why)
		return
	}
	r = r.WithContext(context.WithValue(r.Context(), targetKey{}, to))
	if a := wire.APIOf(r.URL.Path); a != nil && (s.runs != nil || s.note.waits()) {
		switch {
		case r.Method == http.MethodPost:
			r = s.prepare(r, a)
		case r.Header.Get("Upgrade") != "": // Codex then uses HTTP, whose bodies can be worked on
			refuse(w, r, http.StatusUpgradeRequired, "conversations go through here by HTTP and not by WebSocket")
			return
		}
	}
	s.proxy.ServeHTTP(w, r)
}

// target is where a request goes.
type target struct {
	url        *url.URL
	replaces   string           // the beginning of the request's path in whose place the URL's path stands
	workspaces *wire.Workspaces // nil: the URL is that of all accounts
	header     [2]string        // a header that is added, and its value; "": none is
}

// target returns where a request goes, or why it goes nowhere.
func (s *server) target(r *http.Request) (to target, why string) {
	first, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	if to := s.routes[first]; to != nil {
		if path, err := url.PathUnescape("/" + rest); err == nil {
			r.URL.Path, r.URL.RawPath = path, "/"+rest
			return target{url: to}, ""
		}
	}
	if s.upstream != nil {
		return target{url: s.upstream}, ""
	}
	p, why := wire.Route(r)
	if p == nil {
		return target{}, why
	}
	return target{url: p.URL, replaces: p.Replaces, workspaces: p.Workspaces}, ""
}

// misdirected refuses a request that names no single provider. It is sent nowhere.
func (s *server) misdirected(w http.ResponseWriter, r *http.Request, why string) {
	s.emit(fsm.NewEvent("proxy.refused", "", fsm.Facts{"reason": "misdirected", "message": why}))
	refuse(w, r, http.StatusMisdirectedRequest, fmt.Sprintf("%s %s is sent nowhere, because %s; a key must not reach another company. "+
		"To send every request to one address, start the proxy with --upstream URL", r.Method, r.URL.Path, why))
}

// targetKey is the context key of a request's target.
type targetKey struct{}

// rewrite sets a request's address to the upstream.
func (s *server) rewrite(r *httputil.ProxyRequest) {
	to := r.In.Context().Value(targetKey{}).(target)
	r.Out.URL.RawQuery = r.In.URL.RawQuery // ReverseProxy leaves out what it cannot parse
	r.Out.URL.Path, r.Out.URL.RawPath = strings.TrimPrefix(r.Out.URL.Path, to.replaces), strings.TrimPrefix(r.Out.URL.RawPath, to.replaces)
	r.SetURL(to.url)
	r.Out.Host = to.url.Host
	if to.header[1] != "" {
		r.Out.Header.Set(to.header[0], to.header[1])
	}
	if _, given := r.In.Header["User-Agent"]; !given {
		r.Out.Header["User-Agent"] = nil
	}
}
