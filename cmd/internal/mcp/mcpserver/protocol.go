package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcp-pruner/mcp-pruner/states"
)

// answerProtocol answers everything but tools/call.
func (s *Server) answerProtocol(ctx context.Context, session *Session, m Message) (body []byte) {
	defer func() {
		if r := recover(); r != nil {
			body = encodeError(m.ID, codeInternalError, nil)
		}
	}()
	p := m.params()
	var issues []states.Issue
	switch m.Method {
	case "initialize":
		issues = checkInitialize(p)
	case "tools/list":
		issues = checkList(p)
	case "ping", "server/discover":
		issues = checkPlain(p)
	}
	if version := p.version(); p.modern() && !slices.Contains(Versions, version) {
		return encodeError(m.ID, codeUnsupportedVersion, unsupportedVersion{Versions, version})
	}
	a := s.asked(session, m, p)
	if len(issues) > 0 {
		return s.encodeIssues(a, issues)
	}
	switch m.Method {
	case "initialize":
		session.introduce(p)
		s.greet(ctx, session, m)
		m.Params = reduced(p)
	case "tools/list":
		list, err := listOf(s.tools(a.client), s.config.AlwaysLoad, p, s.implementation())
		if err == nil {
			body, err = encodeResult(m.ID, list)
		}
		if err != nil {
			return encodeError(m.ID, codeInternalError, nil)
		}
		return body
	}
	return s.dispatch(ctx, session, m)
}

// reduced returns the part of the params of initialize that mcp-go needs. It leaves out the rest, so that
// an unusual capability cannot make the handshake fail.
func reduced(p params) json.RawMessage {
	asked, _ := p.object["protocolVersion"].(string)
	return plain(map[string]any{"protocolVersion": agreed(asked), "capabilities": map[string]any{}})
}

// dispatch lets mcp-go answer and then restores the id, because mcp-go rounds ids above 2^53 and spells
// them anew.
func (s *Server) dispatch(ctx context.Context, session *Session, m Message) []byte {
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
	ctx = server.WithSupportedProtocolVersions(ctx, Versions)
	switch response := s.mcp.HandleMessage(ctx, request).(type) {
	case mcp.JSONRPCResponse:
		body, err = encodeResult(m.ID, s.decorated(session.client(m.params()), response.Result))
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

// decorated adds to mcp-go's answer: the schema version and name of this server, whether it announces
// changes of the list, and instructions that depend on the client.
func (s *Server) decorated(client string, result any) any {
	switch r := result.(type) {
	case mcp.DiscoverResult:
		return s.decorated(client, &r)
	case *mcp.DiscoverResult:
		r.Capabilities, r.Instructions = s.withFeatures(s.withChanges(r.Capabilities), true), s.instructions(client)
		return r
	case mcp.InitializeResult:
		if name := s.config.form.Name; name != "" {
			r.ServerInfo.Name = name
		}
		r.Capabilities, r.Instructions = s.withFeatures(s.withChanges(r.Capabilities), false), s.instructions(client)
		return struct {
			mcp.InitializeResult
			Jeeves schemaVersion `json:"jeeves"`
		}{r, jeeves}
	}
	return result
}

func (s *Server) instructions(client string) string {
	if s.config.Instruct == nil {
		return s.config.Instructions
	}
	return s.config.Instruct(client)
}

func (s *Server) withChanges(c mcp.ServerCapabilities) mcp.ServerCapabilities {
	if c.Tools != nil {
		offered := *c.Tools
		offered.ListChanged = s.Changes()
		c.Tools = &offered
	}
	return c
}
