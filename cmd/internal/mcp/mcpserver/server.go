package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// Config configures a server.
type Config struct {
	Pipeline *states.Pipeline

	// List returns the tools offered to a client, if they depend on the client or change while the server
	// runs. nil: the pipeline's tools.
	List func(client string) []tools.Tool

	Version    string
	Result     string // auto, full or text
	AlwaysLoad bool   // asks Claude to load the tools' schemas at the start
	MaxCalls   int    // tool calls that run at once
	MaxEach    int    // of those, calls of one session to its own tools or to one upstream; 0: no limit

	InvalidParams string // auto, protocol or tool: how invalid arguments are answered
	Instructions  string // what the tools are for, addressed to models; "": none

	// Instruct returns the instructions for a client, if they depend on the client; nil: Instructions.
	Instruct func(client string) string

	// Answered is told of each answered request other than a tool call: its JSON-RPC error code, 0 for a
	// result, and how long it took until its answer was written. nil: nobody is told.
	Answered func(method string, code int, took time.Duration)

	// Notified receives the clients' notifications other than cancellations; nil: they are ignored.
	Notified func(client *Caller, method string, params json.RawMessage)

	// Features are what the server has beside its tools; nil: nothing.
	Features *Features

	form Form // set by Mount
}

// Server answers messages of any number of sessions.
type Server struct {
	config Config
	mcp    *server.MCPServer // negotiation, ping, server/discover
	quick  *slots            // for calls that only read, so that they never wait for commands
	slots  *slots            // for all other calls

	changes *changes
}

// New makes a server.
func New(c Config) *Server {
	return &Server{
		config: c,
		mcp:    server.NewMCPServer(Name, c.Version, server.WithToolCapabilities(false), server.WithInstructions(c.Instructions)),
		quick:  newSlots(c.MaxCalls, c.MaxEach), slots: newSlots(c.MaxCalls, c.MaxEach),
		changes: newChanges(),
	}
}

// Abandon ends the calls whose answers have not been written completely. It is called before the process
// ends.
func (s *Server) Abandon(ctx context.Context) { s.config.Pipeline.Abandon(ctx) }

// Answer answers one message. For a tools/call it blocks for the duration of the call. If ctx ends, the
// call is cancelled and there is nothing to write.
func (s *Server) Answer(ctx context.Context, session *Session, m Message) Reply {
	began := time.Now()
	m = s.config.form.direct(m)
	switch {
	case m.stray:
		session.answered(m)
		return Reply{}
	case m.fault != 0:
		return s.refuse(ctx, session, m)
	case m.ID == nil:
		session.notified(m)
		if s.config.Notified != nil {
			s.config.Notified(session.standing(), m.Method, m.Params)
		}
		return Reply{}
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

// timed makes a reply report when its answer was written.
func (s *Server) timed(m Message, r Reply, began time.Time) Reply {
	if answered := s.config.Answered; answered != nil {
		r.answered = func() { answered(m.Method, r.Code(), time.Since(began)) }
	}
	return r
}

// refuse answers a line that is not a valid request. The line runs through a machine like any other
// request.
func (s *Server) refuse(ctx context.Context, session *Session, m Message) Reply {
	return Reply{body: encodeError(m.ID, m.fault, nil), call: s.run(ctx, session, m.reason)}
}

func (s *Server) call(ctx context.Context, session *Session, m Message) Reply {
	p := m.params()
	if why := checkCall(m, p); why != nil {
		return s.Refuse(ctx, session, m, why)
	}
	if s.Changes() { // a tool of another server: that server judges a call without arguments
		p.argumentsOrNone()
	}
	a := s.asked(session, m, p)
	free := s.acquire(ctx, session, a)
	caller := callerOf(session, m)
	stop := progress(caller.notify, p.meta["progressToken"])
	ctx = withCaller(ctx, caller)
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

func (s *Server) asked(session *Session, m Message, p params) asked {
	a := asked{id: m.ID, method: m.Method, client: session.client(p), modern: p.modern(), direct: m.direct, bare: m.bare, alone: m.alone, named: m.named}
	if name, ok := p.name(); ok && m.Method == "tools/call" {
		a.tool = &name
		a.offered = s.tools(a.client)
	}
	return a
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

// encodeIssues encodes the answer to a request with invalid params.
func (s *Server) encodeIssues(a asked, issues []states.Issue) []byte {
	return encodeError(a.id, codeInvalidParams, s.invalid(a, issues))
}

func (s *Server) invalid(a asked, issues []states.Issue) invalidParams {
	if a.direct != "" {
		a.method, issues = a.direct, plainIssues(issues)
	}
	if a.named != "" {
		a.tool = &a.named
	}
	data := invalidParams{Jeeves: jeeves, Method: a.method, Tool: a.tool, Issues: issues}
	if s.config.Pipeline.FieldErrors {
		data.FieldErrors = states.FieldErrors(issues)
	}
	return data
}

// tools returns the tools offered to a client.
func (s *Server) tools(client string) []tools.Tool {
	if s.config.List != nil {
		return s.config.List(client)
	}
	return s.config.Pipeline.Tools
}

// InputSchema returns the input schema, as offered to the client, of the tool that a tools/call names, or
// nil if there is no such tool.
func (s *Server) InputSchema(m Message) json.RawMessage {
	if m.fault != 0 || m.Method != "tools/call" {
		return nil
	}
	client, _ := m.params().client()
	name := m.ToolName()
	for _, t := range s.tools(client) {
		if t.Name == name {
			return t.InputSchema
		}
	}
	return nil
}

// implementation returns the server's name and version for initialize.
func (s *Server) implementation() mcp.Implementation {
	return mcp.Implementation{Name: Name, Version: s.config.Version}
}

// Refuse answers a message with a refusal. The request runs through a machine like any other.
func (s *Server) Refuse(ctx context.Context, session *Session, m Message, why *Refusal) Reply {
	call := s.run(ctx, session, why.message)
	body, err := encode(m.ID, "error", rpcError{why.code, why.message, why.data})
	return Reply{body: body, call: call, err: err}
}

// Refused runs a machine for a request that never became a message because the transport turned it down.
// The log and the trace then have an entry for it.
func (s *Server) Refused(ctx context.Context, why string) {
	s.run(ctx, Alone(), why).Answering(0)
}

// run runs a refused request through its machine.
func (s *Server) run(ctx context.Context, session *Session, why string) *states.Execution {
	return s.config.Pipeline.Run(context.WithoutCancel(ctx), states.Request{
		Malformed: why, Session: session.states(), Client: session.client(params{}),
	})
}
