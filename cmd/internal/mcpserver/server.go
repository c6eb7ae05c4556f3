package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"mcp-pruner/states"
	"mcp-pruner/tools"
)

// Name is how the server introduces itself.
const Name = "@jeeves/mcp-pruner"

// Config is what a server is made of.
type Config struct {
	Pipeline   *states.Pipeline
	Version    string
	Result     string // auto, full or text
	AlwaysLoad bool   // asks Claude to show the tools up front
	MaxCalls   int    // tool calls at work at once
	MaxEach    int    // and those of one session; 0: all

	FieldErrors bool // -32602 says what is wrong in the HTTP design's form too
}

// Server answers messages. One server serves any number of sessions.
type Server struct {
	config Config
	mcp    *server.MCPServer // negotiation, ping, tools/list, server/discover
	slots  chan struct{}
}

// New makes a server.
func New(c Config) *Server {
	s := &Server{config: c, slots: make(chan struct{}, c.MaxCalls)}
	s.mcp = server.NewMCPServer(Name, c.Version, server.WithToolCapabilities(false))
	for _, t := range c.Pipeline.Tools {
		s.mcp.AddTool(listed(t, c.AlwaysLoad), viaMachine)
	}
	return s
}

// viaMachine stands where mcp-go wants a handler. A tools/call never gets there:
// its checks, its unknown names and its errors belong to the request machine.
func viaMachine(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return nil, errors.New("tools/call is answered by the request machine")
}

// maxResultChars lifts Claude's limit on what one result may show its model.
const maxResultChars = 500_000

// listed is a tool as tools/list shows it.
func listed(t tools.Tool, alwaysLoad bool) mcp.Tool {
	meta := map[string]any{"anthropic/maxResultSizeChars": maxResultChars}
	if alwaysLoad {
		meta["anthropic/alwaysLoad"] = true
	}
	tool := mcp.NewToolWithRawSchema(t.Name, t.Description, t.InputSchema)
	tool.Meta = mcp.NewMetaFromMap(meta)
	tool.Annotations = mcp.ToolAnnotation{}
	if t.ReadOnly {
		tool.Annotations.ReadOnlyHint = mcp.ToBoolPtr(true)
	}
	if t.Destructive {
		tool.Annotations.DestructiveHint = mcp.ToBoolPtr(true)
	}
	return tool
}

// Reply is the answer to one message. Whoever writes it calls Begin before, and
// Written or Failed after.
type Reply struct {
	body []byte
	call *states.Call
	err  error // the answer could not be made
}

// Call is the request behind the answer; nil when it ran through no machine.
func (r Reply) Call() *states.Call { return r.call }

// Begin returns what is to be written now; nil when nothing is, as for
// notifications and for calls that were cancelled, even at the last moment. An
// error means that the answer could not be made: the connection has to end.
func (r Reply) Begin(ctx context.Context) ([]byte, error) {
	if r.call == nil {
		return r.body, nil
	}
	body := r.body
	if ctx.Err() != nil {
		r.call.Cancel(ctx)
		body = nil
	}
	r.call.Answering(len(body))
	return body, r.err
}

// Written tells that the body went out whole.
func (r Reply) Written(ctx context.Context) {
	if r.call != nil {
		r.call.Written(ctx)
	}
}

// Failed tells that the body could not be written.
func (r Reply) Failed(ctx context.Context, err error) {
	if r.call != nil {
		r.call.WriteFailed(ctx, err)
	}
}

// Abandon ends the calls whose answers have not gone out completely. It is called when
// the process is about to end.
func (s *Server) Abandon(ctx context.Context) { s.config.Pipeline.Abandon(ctx) }

// Answer answers one message. For a tools/call it takes as long as the call; a
// context that ends cancels it, and then there is nothing to write.
func (s *Server) Answer(ctx context.Context, session *Session, m Message) Reply {
	switch {
	case m.stray:
		return Reply{}
	case m.fault != 0:
		return s.refuse(ctx, session, m)
	case m.ID == nil:
		session.notified(m)
		return Reply{}
	case m.Method == "tools/call":
		return s.call(ctx, session, m)
	default:
		return Reply{body: s.answerProtocol(ctx, session, m)}
	}
}

// refuse answers a line that is no request. It is given a machine like any other.
func (s *Server) refuse(ctx context.Context, session *Session, m Message) Reply {
	call := s.config.Pipeline.Run(ctx, states.Request{
		Malformed: m.reason, Session: session.states(), Client: session.client(nil),
	})
	return Reply{body: encodeError(m.ID, m.fault, nil), call: call}
}

func (s *Server) call(ctx context.Context, session *Session, m Message) Reply {
	params := decode(m.Params)
	release := s.acquire(ctx, session)
	stop := session.progress(m.Notify, at(params, "_meta", "progressToken"))
	call := s.config.Pipeline.Run(ctx, states.Request{
		Params: params, Session: session.states(), Client: session.client(params),
	})
	stop()
	release()
	body, err := s.encodeCall(session, m, params, call)
	if err != nil {
		call.WriteFailed(ctx, err)
	}
	return Reply{body, call, err}
}

// acquire waits for a free slot, first among those of the session. A call that is
// cancelled while it waits goes on without one: its machine ends it at once.
func (s *Server) acquire(ctx context.Context, session *Session) (release func()) {
	own := take(ctx, session.slots(s.config.MaxEach))
	all := take(ctx, s.slots)
	return func() {
		all()
		own()
	}
}

// take takes a slot; where there are none to be taken, or ctx ends, nothing.
func take(ctx context.Context, slots chan struct{}) (release func()) {
	if slots == nil {
		return func() {}
	}
	select {
	case slots <- struct{}{}:
		return func() { <-slots }
	case <-ctx.Done():
		return func() {}
	}
}

func (s *Server) encodeCall(session *Session, m Message, params any, call *states.Call) (body []byte, err error) {
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
		return s.encodeIssues(m, params, answer.Issues), nil
	case states.Failed:
		return encodeError(m.ID, codeInternalError, nil), nil
	}
	if o := answer.Opaque; o != nil && o.RPC != nil {
		return encode(m.ID, "error", o.RPC)
	}
	result := newToolResult(answer, textOnly(s.config.Result, session.client(params)))
	if version, _ := at(params, "_meta", protocolVersionKey).(string); mcp.IsModernProtocol(version) {
		result.ResultType = string(mcp.ResultTypeComplete)
		result.Meta[serverInfoKey] = mcp.Implementation{Name: Name, Version: s.config.Version}
	}
	return encodeResult(m.ID, result)
}

// encodeIssues says what is wrong with a request's params.
func (s *Server) encodeIssues(m Message, params any, issues []states.Issue) []byte {
	data := invalidParams{Jeeves: jeeves, Method: m.Method, Issues: issues}
	if name, ok := at(params, "name").(string); ok && m.Method == "tools/call" {
		data.Tool = &name
	}
	if s.config.FieldErrors {
		data.FieldErrors = fieldErrors(issues)
	}
	return encodeError(m.ID, codeInvalidParams, data)
}

// answerProtocol answers everything but tools/call.
func (s *Server) answerProtocol(ctx context.Context, session *Session, m Message) (body []byte) {
	defer func() {
		if r := recover(); r != nil {
			body = encodeError(m.ID, codeInternalError, nil)
		}
	}()
	params := decode(m.Params)
	var issues []states.Issue
	var introduction map[string]any
	switch m.Method {
	case "initialize":
		introduction, issues = checkInitialize(params)
		m.Params = reduced(introduction)
	case "tools/list":
		issues = checkList(params)
	case "ping", "server/discover":
		issues = checkPlain(params)
	default:
		return encodeError(m.ID, codeMethodNotFound, nil)
	}
	if len(issues) > 0 {
		return s.encodeIssues(m, params, issues)
	}
	if introduction != nil {
		session.introduce(introduction)
	}
	return s.dispatch(ctx, m)
}

// reduced is what mcp-go needs of the params of initialize: the rest is of no
// use here, and an unusual capability must not fail the handshake.
func reduced(params map[string]any) json.RawMessage {
	kept := map[string]any{"protocolVersion": params["protocolVersion"], "capabilities": struct{}{}}
	raw, err := json.Marshal(kept)
	if err != nil { // a string marshals
		panic(err)
	}
	return raw
}

// dispatch lets mcp-go answer. The id stays ours: mcp-go would round one above
// 2^53 and spell it anew.
func (s *Server) dispatch(ctx context.Context, m Message) []byte {
	request, err := json.Marshal(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      int             `json:"id"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params,omitempty"`
	}{"2.0", 1, m.Method, m.Params})
	if err != nil {
		return encodeError(m.ID, codeInternalError, nil)
	}
	var body []byte
	switch response := s.mcp.HandleMessage(ctx, request).(type) {
	case mcp.JSONRPCResponse:
		body, err = encodeResult(m.ID, decorated(response.Result))
	case mcp.JSONRPCError:
		body = encodeError(m.ID, response.Error.Code, response.Error.Data)
	default:
		err = fmt.Errorf("mcp-go answered %s with %T", m.Method, response)
	}
	if err != nil {
		return encodeError(m.ID, codeInternalError, nil)
	}
	return body
}

// decorated adds our schema version to the answer to initialize.
func decorated(result any) any {
	if r, ok := result.(mcp.InitializeResult); ok {
		return struct {
			mcp.InitializeResult
			Jeeves schemaVersion `json:"jeeves"`
		}{r, jeeves}
	}
	return result
}
