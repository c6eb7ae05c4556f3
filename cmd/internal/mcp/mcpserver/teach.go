package mcpserver

import (
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// teaches says whether a client is answered bad arguments with a tool error.
func teaches(how, client string) bool {
	return how == "tool" || how == "auto" && agent.Announced(client).Results.HidesErrorData
}

// refusal returns the tool error that says in words what is wrong with a call's arguments. The data of the protocol's
// error goes along.
func refusal(advice string, data invalidParams) toolResult {
	return toolResult{
		Content: []any{textContent{"text", "Error (invalid_params): " + advice}},
		IsError: true,
		Meta:    map[string]any{"jeeves/invalid_params": data},
	}
}
