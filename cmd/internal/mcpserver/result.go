package mcpserver

import (
	"mcp-pruner/states"
)

// toolResult is the result of tools/call. It is our own type and not mcp-go's,
// whose marshalling escapes for HTML and copies a large text several times.
type toolResult struct {
	ResultType        string         `json:"resultType,omitempty"` // protocol 2026-07-28 and later
	Content           []textContent  `json:"content"`
	StructuredContent any            `json:"structuredContent,omitempty"`
	IsError           bool           `json:"isError,omitempty"`
	Meta              map[string]any `json:"_meta"`
}

type textContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// showOnlyStructured are the clients known to drop content when there is
// structuredContent, so that a model would read escaped JSON.
var showOnlyStructured = map[string]bool{"claude-code": true, "codex-mcp-client": true}

// textOnly says whether a client gets content alone.
func textOnly(shape, client string) bool {
	return shape == "text" || shape == "auto" && showOnlyStructured[client]
}

func newToolResult(a states.Answer, textOnly bool) toolResult {
	r := toolResult{
		Content: []textContent{{"text", a.Text}},
		IsError: a.IsError,
		Meta:    map[string]any{"jeeves/pruning": a.Pruning},
	}
	if a.Notice != "" { // a block of its own: the text stays exactly the output
		r.Content = append(r.Content, textContent{"text", "[" + a.Notice + "]"})
	}
	if !textOnly {
		r.StructuredContent = a.Structured
	}
	if a.PruneID != "" {
		r.Meta["jeeves/prune_id"] = a.PruneID
	}
	if a.Repeat {
		r.Meta["jeeves/repeat_read"] = true
	}
	return r
}
