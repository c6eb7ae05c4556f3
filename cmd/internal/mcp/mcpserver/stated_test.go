package mcpserver

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties what the pages say of a client to its value.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/clients/claude-code.md")
	page.Says("Claude's own ceiling is %s.", "Claude.Results.Ceiling", agent.Claude.Results.Ceiling)
	page = stated.On(t, "docs/decisions/018-limits-follow-the-client.md")
	page.Says("stays at %s, because output", "Claude.Results.Ceiling", agent.Claude.Results.Ceiling)
}
