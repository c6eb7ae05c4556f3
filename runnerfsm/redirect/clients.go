package redirect

import (
	"maps"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

var planners = map[string]func(*agent.Client, Start) (Plan, error){
	agent.Claude.Name: claude, agent.Codex.Name: codex, agent.Gemini.Name: gemini, agent.Opencode.Name: opencode,
}

// Clients are the names of the clients whose calls can go to a proxy.
func Clients() []string { return slices.Sorted(maps.Keys(planners)) }

// Find makes the plan for a client. An error that is a [Refusal] says what the user has configured instead.
func Find(client string, s Start) (Plan, error) { return planners[client](agent.Named(client), s) }
