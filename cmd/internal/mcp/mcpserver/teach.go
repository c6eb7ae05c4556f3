package mcpserver

import "github.com/mcp-pruner/mcp-pruner/states"

// hideErrorData are the clients known to show their model only "Invalid params" of a
// -32602 error, or nothing a model can use.
var hideErrorData = map[string]bool{"claude-code": true, "codex-mcp-client": true, "opencode": true, "gemini-cli-mcp-client": true}

// teaches says whether a client is answered bad arguments with a tool error.
func teaches(how, client string) bool {
	return how == "tool" || how == "auto" && hideErrorData[client]
}

// refusal is the tool error that says what is wrong with a call's arguments. The data
// of the protocol's error goes along.
func (s *Server) refusal(a asked, answer states.Answer) toolResult {
	return toolResult{
		Content: []any{textContent{"text", "Error (invalid_params): " + answer.Advice}},
		IsError: true,
		Meta:    map[string]any{"jeeves/invalid_params": s.invalid(a, answer.Issues)},
	}
}
