package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/mcp-pruner/mcp-pruner/tools"
)

// Mount returns a server with other tools and another form that shares this server's machine, trace and
// slots.
func (s *Server) Mount(list func(client string) []tools.Tool, form Form) *Server {
	config := s.config
	config.List, config.form = list, form
	return &Server{config: config, mcp: s.mcp, quick: s.quick, slots: s.slots, changes: s.changes}
}

// Call calls a tool outside JSON-RPC. The reply's body is the tool's text, empty if the call failed.
func (s *Server) Call(ctx context.Context, tool string, args map[string]any) Reply {
	m := Message{Method: "tools/call", ID: json.RawMessage("0"), lazy: new(lazyParams), alone: true}
	m.lazy.once.Do(func() { m.lazy.decoded = newParams(map[string]any{"name": tool, "arguments": args}) })
	return s.call(ctx, Alone(), m)
}
