package mcpserver

import (
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// teaches says whether a client is answered bad arguments with a tool error.
func teaches(how, client string) bool {
	return how == "tool" || how == "auto" && agent.Announced(client).Results.HidesErrorData
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
