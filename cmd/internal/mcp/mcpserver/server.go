package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

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

func (s *Server) asked(session *Session, m Message, p params) asked {
	a := asked{id: m.ID, method: m.Method, client: session.client(p), modern: p.modern(), direct: m.direct, bare: m.bare, alone: m.alone, named: m.named}
	if name, ok := p.name(); ok && m.Method == "tools/call" {
		a.tool = &name
		a.offered = s.tools(a.client)
	}
	return a
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
