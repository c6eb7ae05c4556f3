package gateway

import (
	"context"
	"encoding/json"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream/connect"
)

// callerOf returns the client that made the call, and the call's _meta.
func callerOf(ctx context.Context) (connect.Caller, map[string]any) {
	c := mcpserver.CallerOf(ctx)
	if c == nil {
		return nil, nil
	}
	var meta map[string]any
	_ = json.Unmarshal(c.Meta(), &meta) // decoded from an object before
	return c, meta
}
