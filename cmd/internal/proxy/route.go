package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/states/clearing"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

func newServer(upstream *url.URL, r *clearing.Runs, emit func(fsm.Event)) *server {
	s := &server{upstream: upstream, runs: r, patience: decideWithin, room: roomWithin, bodies: web.NewBudget(bodyBudget, bodyStall, bodyWithin), emit: emit, health: health{emit: emit, retry: tryAgainAfter}}
	s.proxy = &httputil.ReverseProxy{
		Rewrite: s.rewrite, FlushInterval: -1, // each piece of a stream is forwarded at once
		Transport: again{&http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 128,
			IdleConnTimeout: 90 * time.Second, MaxResponseHeaderBytes: 1 << 20, DisableCompression: true, // bodies are forwarded as they are
		}},
		ModifyResponse: s.listen, ErrorHandler: s.unreachable,
		ErrorLog: log.New(io.Discard, "", 0), // standard error belongs to the event log
	}
	return s
}

// maxAnswers is how many answers to one subject may be in progress: each takes memory, also if nobody reads it. The owner of the machine
// has no limit.
const maxAnswers = 512

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect {
		refuse(w, r, http.StatusMethodNotAllowed, "CONNECT is refused, because this is no forward proxy: its address belongs into a base URL, not into HTTPS_PROXY")
		return
	}
	r.URL.Path, r.URL.RawPath = single(r.URL.Path), single(r.URL.RawPath)
	if s.gate != nil && s.answerProbe(w, r) {
		return
	}
	if ofGateway(r.URL.Path) {
		s.takeBearer(r)
	}
	r, admitted := s.admit(w, r)
	if !admitted {
		return
	}
	if s.aboutItself(w, r) || s.answerGateway(w, r) {
		return
	}
	subject := agent.SubjectOf(r.Context())
	kept, _ := s.answers.LoadOrStore(subject, new(atomic.Int64))
	answers := kept.(*atomic.Int64)
	defer answers.Add(-1)
	if answers.Add(1) > maxAnswers && subject != "" {
		refuse(w, r, http.StatusTooManyRequests, fmt.Sprintf("%d answers to you are in progress, and more are not kept", maxAnswers))
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
			held := s.bodies.Hold(agent.SubjectOf(r.Context()))
			defer held.Release()
			if r = s.prepare(w, r, a, held); r == nil {
				return
			}
		case r.Header.Get("Upgrade") != "": // Codex then uses HTTP, whose bodies can be worked on
			refuse(w, r, http.StatusUpgradeRequired, "conversations go through here by HTTP and not by WebSocket")
			return
		}
	}
	s.proxy.ServeHTTP(w, r)
}

// single returns a path in which no slash follows another one, as where a base URL ends with one: a doubled slash must not lead past
// what is known of a path.
func single(path string) string {
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return path
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

// answered is the reason of a request that was answered already.
const answered = "it was answered"

// toWorkspace sets the address of a request's workspace, for which the company is asked once, with the request's own login. If
// the company refuses the login, the client gets that answer, by which it knows that it has to renew the login.
func (s *server) toWorkspace(w http.ResponseWriter, r *http.Request, to *target) (why string) {
	account := r.Header.Get(to.workspaces.Account)
	place := s.workspaces.of(account + "\n" + r.Header.Get("Authorization"))
	place.mu.Lock()
	defer place.mu.Unlock()
	if !place.asked {
		res, body, err := askWorkspace(s.proxy.Transport, r, to.workspaces)
		switch {
		case err != nil, res.StatusCode >= http.StatusInternalServerError, res.StatusCode == http.StatusTooManyRequests, res.StatusCode == http.StatusOK && !json.Valid(body):
			refuse(w, r, http.StatusBadGateway, "to which address the requests of this account go could not be asked at "+to.workspaces.Check.Host+"; try again")
			return answered
		case res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden:
			maps.Copy(w.Header(), res.Header)
			w.WriteHeader(res.StatusCode)
			_, _ = w.Write(body) // the client is gone
			return answered
		case res.StatusCode == http.StatusOK:
			if place.found, err = to.workspaces.Parse(body, account); err != nil {
				place.why = err.Error()
			}
		}
		place.asked = true
	}
	if origin := place.found.Origin; origin != nil {
		to.url = &url.URL{Scheme: origin.Scheme, Host: origin.Host, Path: to.url.Path}
	}
	to.header = [2]string{to.workspaces.Override, place.found.Override}
	return place.why
}
