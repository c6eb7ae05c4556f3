// Package proxy is a reverse proxy between an agent and its model's API. It replaces tool results that the
// planner cleared by stubs, and may prune new results. Everything else passes through unchanged, and so
// does every request when an error occurs in the proxy.
package proxy

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
	"github.com/mcp-pruner/mcp-pruner/states/clearing"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
)

// decideWithin is the time limit for decisions. After it a request passes through with only the earlier
// decisions applied. Tests change it.
var decideWithin = 2 * time.Second

// server is the proxy's handler.
type server struct {
	secret     secret.Secret // of the clients; "": none is asked for
	prover     prover
	gate       *web.Gate   // admits callers by a credential of their own, in place of the secret; nil: there is none
	access     web.Access  // from where requests may come
	draining   atomic.Bool // the proxy ends
	refusals   logged
	upstream   *url.URL            // nil: each request goes to the provider that it names
	routes     map[string]*url.URL // where requests go whose path begins with a segment, which is taken out
	workspaces workspaces
	runs       *clearing.Runs // nil: everything passes through
	memory     wire.Memory
	work       atomic.Pointer[work]
	health     health
	patience   time.Duration
	room       time.Duration // how long a request waits until there is room for its body
	bodies     *web.Budget
	answers    sync.Map // by subject an *atomic.Int64, how many are in progress
	note       note
	stop       func() // ends the process as a signal does; nil: no request can
	emit       func(fsm.Event)
	feeding    sync.WaitGroup
	proxy      *httputil.ReverseProxy
}

// work has the parts of the proxy that change requests, and the ledger that they need.
type work struct {
	engine *clearing.Engine
	usage  func(contextgc.Usage)
	feed   func(c *wire.Conversation, client string)
	close  func() error

	original func(ctx context.Context, id string) (string, error) // that an agent was shown by its id

	replaced bool // by another one, because its ledger was lost; guarded by the lock of health
}

// exchangeKey is the context key of a request's exchange.
type exchangeKey struct{}

// exchange is a request that was parsed.
type exchange struct {
	*work
	api     *wire.API
	session string
	outcome clearing.Outcome
	refused func(clearing.Refusal) // is told that the changed body was refused; nil: it was not changed
}

// prepare rewrites a request's body. After any error the body is sent as it came, but nil is returned for one that did not come, or
// found no room: it was answered.
func (s *server) prepare(w http.ResponseWriter, r *http.Request, a *wire.API, held *web.Hold) *http.Request {
	ctx, cancel := context.WithTimeout(r.Context(), s.room)
	defer cancel()
	body, rest, err := readBody(ctx, held, w, r)
	if rest {
		return r
	}
	var plain []byte
	var x *exchange
	ok := false
	if err == nil {
		plain, ok, err = decoded(ctx, held, r, body)
	}
	if err == nil && ok {
		err = takeParsed(ctx, held, plain)
	}
	if err == nil && ok {
		x, err = s.understand(r, a, plain, takeMade(ctx, held))
	}
	if err != nil {
		noBody(w, r, err)
		return nil
	}
	kept := len(body) // until the answer ends
	if x == nil || len(x.outcome.Body) == 0 || bytes.Equal(x.outcome.Body, plain) {
		setBody(r, body)
	} else {
		came := s.received(r, x, body)
		x.refused, r = came.sent, came.with(r)
		setBody(r, packed(r, x.outcome.Body))
		kept += int(r.ContentLength)
	}
	held.Shrink(int64(max(0, kept-2*smallBody)))
	if x == nil {
		return r
	}
	x.outcome.Body = nil
	return r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
}

// received returns the body as it came, for the case that the upstream refuses the changed one. The session is then left alone;
// the answer does not wait for the ledger.
func (s *server) received(r *http.Request, x *exchange, body []byte) *received {
	ctx := context.WithoutCancel(r.Context())
	return &received{body: body, sent: func(why clearing.Refusal) {
		s.health.replaced.Add(-int64(x.outcome.Fresh))
		x.outcome, x.refused = clearing.Outcome{}, nil // nothing was replaced in what is answered
		if why == "" {
			return
		}
		s.feeding.Go(func() {
			if err := x.engine.LeaveAlone(ctx, x.api.Name, x.session, why); err != nil {
				s.emit(fsm.NewEvent("mcp_pruner.warning", "", fsm.Facts{"message": "a session is left alone until this process ends, because that cannot be stored: " + err.Error()}))
			}
		})
	}}
}

// understand parses the request and decides on its replacements. It returns nil if the request is not
// understood, and an error if it finds no room. It recovers from panics, because no bug in the proxy may cost a client its request.
func (s *server) understand(r *http.Request, a *wire.API, body []byte, room func(values int) error) (x *exchange, full error) {
	defer func() {
		if p := recover(); p != nil {
			x = nil
			s.emit(fsm.NewEvent("proxy.passed_through", "", fsm.Facts{"api": a.Name, "reason": "panic"}))
		}
	}()
	if s.note.waits() {
		s.note.take(r, a, body)
	}
	if s.runs == nil {
		return nil, nil
	}
	c, err := s.memory.Parse(a, body, room)
	if err != nil && !errors.Is(err, jsonspan.ErrShape) {
		return nil, err
	}
	if err != nil {
		s.emit(fsm.NewEvent("proxy.passed_through", "", fsm.Facts{"api": a.Name, "reason": "not_understood"}))
		return nil, nil
	}
	c.Alias(r.Header.Get("X-Session-Id")) // opencode's session id
	c.WorksIn(agent.Calling(r.UserAgent()).Folders(c.Told(), c.Words(0))...)
	client := clientOf(r.Header.Get("User-Agent"))
	s.runs.Session(r.Context(), c.Session, client)
	w, decides := s.worker(r.Context())
	if !decides {
		s.runs.Failed(r.Context(), c.Session)
	}
	if w == nil || agent.SubjectOf(r.Context()) != "" && !w.engine.Store.Shared() {
		return nil, nil // a ledger in a file knows one owner only
	}
	x = &exchange{work: w, api: a, session: c.Session}
	if !decides {
		x.outcome = w.engine.Known(r.Context(), c)
		return x, nil
	}
	x.outcome, err = s.decide(r.Context(), w, c, client, a)
	if !a.Counts && !errors.Is(err, clearing.ErrLost) {
		s.feeding.Go(func() { s.remember(context.WithoutCancel(r.Context()), w, c, client) }) // the request does not wait for the ledger
	}
	return x, nil
}

// decide applies earlier decisions to a request and makes new ones. If the ledger does not answer, only the earlier ones are
// applied.
func (s *server) decide(ctx context.Context, w *work, c *wire.Conversation, client string, a *wire.API) (clearing.Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	o, err := w.engine.Rewrite(ctx, c, client, !a.Counts)
	if err != nil {
		if s.refusals.first("store_failed", time.Minute) {
			s.emit(fsm.NewEvent("proxy.passed_through", "", fsm.Facts{"api": a.Name, "reason": "store_failed", "message": err.Error()}))
		}
		if ctx.Err() == nil { // it did answer, with an error
			s.health.failed(w, err)
		}
		s.runs.Failed(ctx, c.Session)
		o = w.engine.Known(ctx, c)
	}
	s.health.replaced.Add(int64(o.Fresh))
	s.stuck(ctx, w, c, a.Name, o)
	w.engine.Tell(a.Name, c, o)
	return o, err
}

// stuck reports, once for each session, that results stay because nothing would bring them back.
func (s *server) stuck(ctx context.Context, w *work, c *wire.Conversation, api string, o clearing.Outcome) {
	if o.Stuck < w.engine.Policy.MinFreed || !s.health.stuck.first(agent.SubjectOf(ctx)+" "+c.Session, 1<<62) {
		return
	}
	s.health.noWay.Add(1)
	s.emit(fsm.NewEvent("proxy.passed_through", "", fsm.Facts{"api": api, "reason": "no_way_back", "message": "session " + c.Session +
		": results stay, because the client has no tool that would bring them back: neither a shell on this machine, nor recover_text of a gateway with the same store"}))
}

// remember stores the results that a request contains, unless it is nil, and what no request waits for. If that succeeds, the ledger works.
func (s *server) remember(ctx context.Context, w *work, c *wire.Conversation, client string) {
	if c != nil {
		w.feed(c, client)
	}
	if err := w.engine.Flush(ctx); err != nil {
		s.health.failed(w, err)
		return
	}
	s.health.works()
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
