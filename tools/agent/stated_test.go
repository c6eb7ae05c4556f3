package agent

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties what the pages say of clients to the clients' values.
func TestStated(t *testing.T) {
	claude, gemini := Claude.Results.Limits, Gemini.Results.Limits
	page := stated.On(t, "docs/clients/claude-code.md")
	page.Says("Claude's own ceiling is %s.", "Claude.Results.Ceiling", Claude.Results.Ceiling)
	page.Says("Results above %s tokens (`MAX_MCP", `Claude.Results.Limits["read"].Tokens`, claude["read"].Tokens)
	page = stated.On(t, "docs/clients/codex.md")
	page.Says("%s for gpt-5.5", "Codex.Results.Ceiling", Codex.Results.Ceiling)
	page = stated.On(t, "docs/HOOKS.md")
	page.Says("not above %s bytes of text", "Codex.Hooks.Longest", Codex.Hooks.Longest)
	page = stated.On(t, "docs/AUDIT.md")
	page.Says("beyond %s bytes for `claude-code`", "Claude.Results.Ceiling", Claude.Results.Ceiling)
	page.Says("%s for `codex-mcp-client`", "Codex.Results.Ceiling", Codex.Results.Ceiling)
	page = stated.On(t, "docs/decisions/018-limits-follow-the-client.md")
	page.Says("Claude Code: Read %s tokens", `Claude.Results.Limits["read"].Tokens`, claude["read"].Tokens)
	page.Says("Bash %s characters, Grep", `Claude.Results.Limits["bash"].Bytes`, claude["bash"].Bytes)
	page.Says("characters, Grep %s;", `Claude.Results.Limits["grep"].Bytes`, claude["grep"].Bytes)
	page.Says("for a search %s matches.", `Opencode.Results.Limits["grep"].Lines`, Opencode.Results.Limits["grep"].Lines)
	page.Says("All other clients: %s tokens", "UnknownLimit.Tokens", UnknownLimit.Tokens)
	page.Says("KB; the %s lines are from A9", `Claude.Results.Limits["read"].Lines`, claude["read"].Lines)
	page.Says("Gemini CLI: %s lines of a file", `Gemini.Results.Limits["read"].Lines`, gemini["read"].Lines)
	page.Says("lines of a file, %s matches of a search", `Gemini.Results.Limits["grep"].Lines`, gemini["grep"].Lines)
}
