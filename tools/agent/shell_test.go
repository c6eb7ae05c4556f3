package agent

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// How a client's hooks and its agent start this program, on every system.
func TestTheShellsOfClients(t *testing.T) {
	const spaced, simple = `C:\Program Files\it's\mcp-pruner.exe`, `C:\bin\mcp-pruner.exe`
	for _, c := range []struct{ system, client, path, hook, tool string }{
		{"linux", "claude", "/usr/bin/mcp-pruner", "/usr/bin/mcp-pruner", "/usr/bin/mcp-pruner"},
		{"linux", "codex", "/my dir/it's", `'/my dir/it'\''s'`, `'/my dir/it'\''s'`},
		{"darwin", "gemini", "/Library/Application Support/x", "'/Library/Application Support/x'", "'/Library/Application Support/x'"},
		{"linux", "claude", `/odd\name`, `'/odd\name'`, `'/odd\name'`},
		{"linux", "claude", "/a~b*?[c]", "'/a~b*?[c]'", "'/a~b*?[c]'"},
		{"windows", "claude", spaced, `'C:/Program Files/it'\''s/mcp-pruner.exe'`, `'C:/Program Files/it'\''s/mcp-pruner.exe'`},
		{"windows", "claude", simple, "C:/bin/mcp-pruner.exe", "C:/bin/mcp-pruner.exe"},
		{"windows", "opencode", simple, "C:/bin/mcp-pruner.exe", "C:/bin/mcp-pruner.exe"},
		{"windows", "codex", simple, simple, "C:/bin/mcp-pruner.exe"},
		{"windows", "codex", spaced, "", "& 'C:/Program Files/it''s/mcp-pruner.exe'"},
		{"windows", "codex", `C:\A&B\mcp-pruner.exe`, "", "& 'C:/A&B/mcp-pruner.exe'"},
		{"windows", "gemini", spaced, "& 'C:/Program Files/it''s/mcp-pruner.exe'", "& 'C:/Program Files/it''s/mcp-pruner.exe'"},
		{"windows", "gemini", simple, "C:/bin/mcp-pruner.exe", "C:/bin/mcp-pruner.exe"},
	} {
		hook, ok := Named(c.client).HookShell(c.system).Start(c.system, c.path)
		assert.Equal(t, c.hook != "", ok, c)
		if ok {
			assert.Equal(t, c.hook, hook, c)
		}
		tool, ok := Named(c.client).ToolShell(c.system).Start(c.system, c.path)
		assert.True(t, ok, c)
		assert.Equal(t, c.tool, tool, c)
	}
}
