package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// Answer answers one message. For a tools/call it blocks for the duration of the call. If ctx ends, the
// call is cancelled and there is nothing to write.
func (s *Server) Answer(ctx context.Context, session *Session, m Message) Reply {
	began := time.Now()
	m = s.config.form.direct(m)
	switch {
	case m.stray:
		return Reply{told: session.Answered(m)}
	case m.fault != 0:
		return Reply{body: encodeError(m.ID, m.fault, nil), call: s.run(ctx, session, m.reason)}
	case m.ID == nil:
		session.notified(m)
		return Reply{told: s.Notified(session, m.Method, m.Params)}
	}
	if m.params().modern() {
		s.greet(ctx, session, m)
	}
	switch {
	case m.Method == "tools/call":
		return s.call(ctx, session, m)
	case s.config.Features != nil && isFeature(m.Method):
		return s.timed(m, s.feature(ctx, session, m), began)
	case m.Method == methodListen && m.params().modern() && s.Changes():
		return s.listen(ctx, session, m)
	case s.config.form.Results[m.Method] != nil:
		body, err := encodeResult(m.ID, s.config.form.Results[m.Method])
		return s.timed(m, Reply{body: body, err: err}, began)
	case !known[m.Method], m.Method == "initialize" && m.params().modern(): // 2026-07-28 has no handshake
		return Reply{body: encodeError(m.ID, codeMethodNotFound, nil), call: s.run(ctx, session, "there is no such method")}
	default:
		return s.timed(m, Reply{body: s.answerProtocol(ctx, session, m)}, began)
	}
}

// RootsChanged is the notification of a client whose roots have changed.
const RootsChanged = "notifications/roots/list_changed"

// Notified handles a notification of a session's client, and reports whether somebody was told.
func (s *Server) Notified(session *Session, method string, params json.RawMessage) (told bool) {
	return s.config.Notified != nil && s.config.Notified(session.standing(), method, params)
}

// timed makes a reply report when its answer was written.
func (s *Server) timed(m Message, r Reply, began time.Time) Reply {
	if answered := s.config.Answered; answered != nil {
		r.answered = func() { answered(m.Method, r.Code(), time.Since(began)) }
	}
	return r
}

func (s *Server) call(ctx context.Context, session *Session, m Message) Reply {
	p := m.params()
	if why := checkCall(m, p); why != nil {
		return s.Refuse(ctx, session, m, why)
	}
	if why := s.await(ctx, p); why != "" {
		return s.Refuse(ctx, session, m, &Refusal{mcp.INTERNAL_ERROR, why, nil})
	}
	p.argumentsOrNone()
	a := s.asked(session, m, p)
	free := s.acquire(ctx, session, a)
	caller := callerOf(session, m)
	stop := progress(caller.notify, p.meta["progressToken"])
	ctx = context.WithValue(ctx, callerKey{}, caller)
	call := s.config.Pipeline.Run(ctx, states.Request{
		Params: p.value, Tools: a.offered, Session: session.states(), Client: a.client, Parent: p.parent(), Model: p.model(),
	})
	stop()
	body, err := s.encodeCall(a, call)
	if err != nil {
		call.WriteFailed(ctx, err)
	}
	return Reply{body: body, call: call, err: err, release: sync.OnceFunc(func() { free(); caller.ended() })}
}

// acquire waits for a slot for a call. Calls that only read never wait for commands, and the calls of one
// upstream server never take the slots of another's: a server that hangs holds up nobody else.
func (s *Server) acquire(ctx context.Context, session *Session, a asked) (release func()) {
	from, name, holder := s.quick, session.group(a.client), session.key(a.client)
	if i := slices.IndexFunc(a.offered, func(t tools.Tool) bool { return t.Name == *a.tool }); i >= 0 {
		t := a.offered[i]
		if !t.ReadOnly {
			from = s.slots
		}
		if t.Upstream != "" {
			name, holder = [2]any{name, t.Upstream}, [2]any{holder, t.Upstream}
		}
	}
	return from.acquire(ctx, name, holder)
}

func (s *Server) encodeCall(a asked, call *states.Execution) (body []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("making the answer: %v", r)
		}
	}()
	answer := call.Answer()
	switch answer.Kind {
	case states.NoAnswer:
		return nil, nil
	case states.InvalidParams:
		if answer.Advice == "" || a.direct != "" || !teaches(s.config.InvalidParams, a.client) {
			return s.encodeIssues(a, answer.Issues), nil
		}
		return encodeResult(a.id, s.introduced(a, refusal(answer.Advice, s.invalid(a, answer.Issues))))
	case states.Failed:
		return encodeError(a.id, codeInternalError, nil), nil
	}
	if o := answer.Opaque; o != nil && o.RPC != nil {
		return encode(a.id, "error", o.RPC)
	}
	if body, err := s.config.form.encode(a, answer); body != nil || err != nil {
		return body, err
	}
	result := s.introduced(a, newToolResult(answer, textOnly(s.config.Result, a.client)))
	if o := answer.Opaque; o != nil && len(o.More) > 0 {
		return encodeResult(a.id, result.with(o.More))
	}
	return encodeResult(a.id, result)
}

// introduced adds the members that protocol 2026-07-28 and later requires in every result.
func (s *Server) introduced(a asked, r toolResult) toolResult {
	if a.modern {
		r.ResultType = string(mcp.ResultTypeComplete)
		r.Meta[serverInfoKey] = s.implementation()
	}
	return r
}
