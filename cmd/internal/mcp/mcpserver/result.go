package mcpserver

import (
	"encoding/json"
	"maps"

	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// toolResult is the result of tools/call. mcp-go's type is not used, because its marshalling escapes for
// HTML and copies a large text several times.
type toolResult struct {
	ResultType        string         `json:"resultType,omitempty"` // protocol 2026-07-28 and later
	Content           []any          `json:"content"`
	StructuredContent any            `json:"structuredContent,omitempty"`
	IsError           bool           `json:"isError,omitempty"`
	Meta              map[string]any `json:"_meta,omitempty"`
}

type textContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// textOnly reports whether a client gets content without structuredContent.
func textOnly(shape, client string) bool {
	return shape == "text" || shape == "auto" && agent.Announced(client).Results.OnlyStructured
}

func newToolResult(a states.Answer, textOnly bool) toolResult {
	r := toolResult{
		Content: []any{textContent{"text", a.Text}},
		IsError: a.IsError,
		Meta:    map[string]any{"jeeves/pruning": a.Pruning},
	}
	if !textOnly {
		r.StructuredContent = a.Structured
	}
	if a.Opaque != nil {
		switch {
		case !a.Pruning.Attempted: // a passed-through result gets no additions
			r.Meta, a.Notice = make(map[string]any), ""
		case a.Pruning.Fallback && a.Notice == "":
			a.Notice = "not pruned: the pruner failed"
		}
		r.pass(a.Opaque)
	}
	if a.Notice != "" { // a separate block, so that the text stays exactly the output
		r.Content = append(r.Content, textContent{"text", "[" + a.Notice + "]"})
	}
	if a.PruneID != "" {
		r.Meta["jeeves/prune_id"] = a.PruneID
	}
	if a.Fallback != "" {
		r.Meta["jeeves/fallback_reason"] = a.Fallback
	}
	if a.Repeat {
		r.Meta["jeeves/repeat_read"] = true
	}
	return r
}

// pass replaces the result by another server's answer.
func (r *toolResult) pass(o *tools.Opaque) {
	r.IsError = o.IsError
	if o.Content != nil {
		r.Content = make([]any, len(o.Content))
		for i, block := range o.Content {
			r.Content[i] = block
		}
	}
	r.StructuredContent = nil
	if o.Structured != nil {
		r.StructuredContent = o.Structured
	}
	for key, value := range o.Meta {
		if _, ours := r.Meta[key]; !ours {
			r.Meta[key] = value
		}
	}
}

// with returns the members of the result and more of them; a nil value removes a member.
func (r toolResult) with(more map[string]json.RawMessage) map[string]json.RawMessage {
	members := map[string]json.RawMessage{}
	_ = json.Unmarshal(plain(r), &members) // encoded from a struct
	maps.Copy(members, more)
	maps.DeleteFunc(members, func(_ string, value json.RawMessage) bool { return value == nil })
	return members
}
