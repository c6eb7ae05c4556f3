package httpserver

import (
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/service"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// Pruner is the line pruner's own HTTP contract: POST /rpc, POST /prune and GET /health.
type Pruner struct {
	service   *service.Service
	rpc, code *mcpserver.Server
}

// NewPruner mounts the contract on a server.
func NewPruner(s *mcpserver.Server, lines *service.Service) *Pruner {
	rpc, code := mcpserver.TextRPC(lines), []tools.Tool{mcpserver.CodeTool(lines)}
	return &Pruner{
		service: lines,
		rpc:     s.Mount(func(string) []tools.Tool { return rpc }, rpcForm()),
		code:    s.Mount(func(string) []tools.Tool { return code }, mcpserver.Form{}),
	}
}

// rpcForm returns the methods that POST /rpc has in addition to MCP's.
func rpcForm() mcpserver.Form {
	return mcpserver.Form{
		Name:    "mcp-pruner",
		Plain:   true,
		Aliases: map[string]string{"recover_range": "recover_text"},
		Methods: map[string]mcpserver.Method{
			"prune_text":    {Tool: "prune_text"},
			"recover_text":  {Tool: "recover_text"},
			"recover_range": {Tool: "recover_text"},
			"health":        {Tool: "health", Bare: true},
		},
		Results: map[string]any{
			"notifications/initialized": struct{}{},
			"resources/list":            map[string]any{"resources": []any{}},
			"resources/templates/list":  map[string]any{"resourceTemplates": []any{}},
			"prompts/list":              map[string]any{"prompts": []any{}},
		},
	}
}
