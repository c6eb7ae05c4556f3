package states

import (
	"testing"

	"mcp-pruner/tools/tooltest/stated"
)

// TestStated ties what the pages of the clients say of their limits to the table of clients.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/clients/claude-code.md")
	page.Says("Claude's own ceiling is %s.", `clients["claude-code"].ceiling`, clients["claude-code"].ceiling)
	page.Says("Results above %s tokens (`MAX_MCP", `clients["claude-code"].tools["read"].Tokens`, clients["claude-code"].tools["read"].Tokens)
	page = stated.On(t, "docs/clients/codex.md")
	page.Says("%s for gpt-5.5", "clients[codex].ceiling", clients[codex].ceiling)
	page = stated.On(t, "docs/SPEC-NOTES.md")
	claude := clients["claude-code"].tools
	page.Says("Claude Code: Read %s tokens", `clients["claude-code"].tools["read"].Tokens`, claude["read"].Tokens)
	page.Says("Bash %s characters, Grep", `clients["claude-code"].tools["bash"].Bytes`, claude["bash"].Bytes)
	page.Says("characters, Grep %s;", `clients["claude-code"].tools["grep"].Bytes`, claude["grep"].Bytes)
	page.Says("for a search %s matches.", `clients["opencode"].tools["grep"].Lines`, clients["opencode"].tools["grep"].Lines)
	page.Says("All other clients: %s tokens", "unknownClient.Tokens", unknownClient.Tokens)
}
