package mcpserver

import (
	"encoding/json"
	"maps"

	"github.com/mark3labs/mcp-go/mcp"

	"mcp-pruner/tools"
)

// maxResultChars lifts Claude's limit on what one result may show its model.
const maxResultChars = 500_000

// toolList is the result of tools/list.
type toolList struct {
	ResultType string            `json:"resultType,omitempty"` // this and what follows the tools: protocol 2026-07-28 and later
	Tools      []json.RawMessage `json:"tools"`
	TTL        *int              `json:"ttlMs,omitempty"`
	Scope      mcp.CacheScope    `json:"cacheScope,omitempty"`
	Meta       map[string]any    `json:"_meta,omitempty"`
}

// list answers tools/list.
func (s *Server) list(client string, p params) (toolList, error) {
	offered := s.tools(client)
	l := toolList{Tools: make([]json.RawMessage, len(offered))}
	for i, t := range offered {
		raw, err := listed(t, s.config.AlwaysLoad)
		if err != nil {
			return l, err
		}
		l.Tools[i] = raw
	}
	if p.modern() {
		l.ResultType = string(mcp.ResultTypeComplete)
		l.TTL, l.Scope = new(int), mcp.CacheScopePrivate
		l.Meta = map[string]any{serverInfoKey: s.implementation()}
	}
	return l, nil
}

// tools are what a client is offered.
func (s *Server) tools(client string) []tools.Tool {
	if s.config.List != nil {
		return s.config.List(client)
	}
	return s.config.Pipeline.Tools
}

// listed is a tool as tools/list shows it.
func listed(t tools.Tool, alwaysLoad bool) (json.RawMessage, error) {
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

// InputSchema is the schema of the tool that a tools/call names, as its client is
// offered it; nil: there is no such tool.
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
