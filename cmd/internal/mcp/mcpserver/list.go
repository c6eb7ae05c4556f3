package mcpserver

import (
	"encoding/json"
	"maps"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// toolList is the result of tools/list.
type toolList struct {
	ResultType string            `json:"resultType,omitempty"` // this and the fields after tools: protocol 2026-07-28 and later
	Tools      []json.RawMessage `json:"tools"`
	TTL        *int              `json:"ttlMs,omitempty"`
	Scope      mcp.CacheScope    `json:"cacheScope,omitempty"`
	Meta       map[string]any    `json:"_meta,omitempty"`
}

// listOf returns the list of the tools offered. To a request of a newer protocol it names the server.
func listOf(offered []tools.Tool, alwaysLoad bool, p params, server mcp.Implementation) (toolList, error) {
	l := toolList{Tools: make([]json.RawMessage, len(offered))}
	for i, t := range offered {
		raw, err := listed(t, alwaysLoad)
		if err != nil {
			return l, err
		}
		l.Tools[i] = raw
	}
	if p.modern() {
		l.ResultType = string(mcp.ResultTypeComplete)
		l.TTL, l.Scope = new(int), mcp.CacheScopePrivate
		l.Meta = map[string]any{serverInfoKey: server}
	}
	return l, nil
}

// listed returns a tool's entry in tools/list.
func listed(t tools.Tool, alwaysLoad bool) (json.RawMessage, error) {
	meta := map[string]any{"anthropic/maxResultSizeChars": agent.Claude.Results.Ceiling}
	if alwaysLoad || t.AlwaysLoad {
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
	raw, err := json.Marshal(tool)
	if err != nil || len(t.Listed) == 0 {
		return raw, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	maps.Copy(all, t.Listed)
	maps.DeleteFunc(all, func(_ string, field json.RawMessage) bool { return field == nil })
	return json.Marshal(all)
}
