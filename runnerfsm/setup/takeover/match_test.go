package takeover

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestARuleAnywhereKeepsItsServer puts a rule for a tool of one server into each place where clients have such rules. That
// server stays with its client, and the reason names the rule; the server without a rule is moved.
func TestARuleAnywhereKeepsItsServer(t *testing.T) {
	claude := `{"mcpServers": {"my files.x": {"command": "x"}, "web": {"command": "y"}}}`
	gemini := func(more string) string {
		return `{` + more + `"mcpServers": {"my files.x": {"command": "x"}, "web": {"command": "y"}}}`
	}
	opencode := `{"mcp": {"my files.x": {"type": "local", "command": ["x"]}, "web": {"type": "local", "command": ["y"]}}}`
	codex := "[mcp_servers.\"my files.x\"]\ncommand = \"x\"\n[mcp_servers.web]\ncommand = \"y\"\n"
	policy := func(rule string) string { return "[[rule]]\npriority = 100\n" + rule }
	for _, c := range []struct{ client, text, file, content, why string }{
		{"claude", claude, "settings.json", `{"permissions": {"deny": ["mcp__my_files_x__rm"]}}`, "mcp__my_files_x__rm"},
		{"claude", claude, "settings.json", `{"permissions": {"ask": ["mcp__my_files_x"]}}`, "mcp__my_files_x"},
		{"claude", claude, "settings.json", `{"hooks": {"PreToolUse": [{"matcher": "Bash|mcp__my_files_x__rm", "hooks": []}]}}`, "Bash|mcp__my_files_x__rm"},
		{"claude", claude, "settings.json", `{"hooks": {"PostToolUse": [{"matcher": "^mcp__my_files_x__.*$", "hooks": []}]}}`, "^mcp__my_files_x__.*$"},
		{"claude", claude, "settings.json", `{"hooks": {"PreToolUse": [{"matcher": "mcp__my.*__rm"}]}}`, "mcp__my.*__rm"},
		{"claude", claude, "settings.json", `{"hooks": {"PreToolUse": [{"hooks": [{"if": "mcp__my_files_x__rm(*)"}]}]}}`, "mcp__my_files_x__rm"},
		{"claude", claude, "agents/a.md", "---\nname: a\ntools: Read, mcp__my_files_x__ls\n---\nText", "mcp__my_files_x__ls in FILE"},
		{"claude", claude, "agents/deep/a.md", "---\ndisallowedTools:\n  - mcp__my_files_x__rm\n---\n", "mcp__my_files_x__rm in FILE"},
		{"claude", claude, "agents/a.md", "---\nmcpServers: [my files.x]\n---\n", "mcpServers in FILE"},
		{"claude", claude, "commands/c.md", "---\r\nallowed-tools: mcp__my_files_x__ls\r\n---\r\n", "mcp__my_files_x__ls in FILE"},
		{"claude", claude, "skills/s/SKILL.md", "---\nallowed-tools: \"mcp__my_files_x__*\"\n---\n", "mcp__my_files_x__* in FILE"},
		{"claude", claude, "plugins/p/hooks/hooks.json", `{"hooks": {"PreToolUse": [{"matcher": "mcp__my_files_x__rm"}]}}`, "mcp__my_files_x__rm in FILE"},
		{"gemini", gemini(`"tools": {"exclude": ["my_files.x__rm"]},`), "", "", "my_files.x__rm"},
		{"gemini", gemini(`"tools": {"exclude": ["mcp_my_files.x_rm", "run_shell_command(rm)"]},`), "", "", "mcp_my_files.x_rm"},
		{"gemini", gemini(`"excludeTools": ["my files.x__rm"],`), "", "", "my files.x__rm"},
		{"gemini", gemini(`"hooks": {"BeforeTool": [{"matcher": "mcp_my_files.x_.*"}]},`), "", "", "mcp_my_files.x_.*"},
		{"gemini", gemini(""), "policies/a.toml", policy("mcpName = \"my files.x\"\ntoolName = \"rm\"\ndecision = \"deny\"\n"), "my files.x in FILE"},
		{"gemini", gemini(""), "policies/a.toml", policy("toolName = [\"read_file\", \"my files.x__rm\"]\ndecision = \"ask_user\"\n"), "my files.x__rm in FILE"},
		{"gemini", gemini(""), "policies/a.toml", policy("mcpName = \"my*\"\ndecision = \"deny\"\n"), "my* in FILE"},
		{"opencode", opencode, "agent/a.md", "---\ndescription: *any* text_with_words\ntools:\n  my_files_x_rm: false\n---\n", "my_files_x_rm in FILE"},
		{"opencode", opencode, "agents/a.md", "---\npermission:\n  \"my_files_x_*\": deny\n---\n", "my_files_x_* in FILE"},
		{"opencode", opencode, "mode/plan.md", "---\ntools:\n  my_files?x_rm: false\n---\n", "my_files?x_rm in FILE"},
		{"codex", codex + "[profiles.p.mcp_servers.\"my files.x\"]\ndisabled_tools = [\"rm\"]\n", "", "", "profiles.p.mcp_servers.my files.x"},
		{"codex", codex + "[[hooks.PreToolUse]]\nmatcher = \"mcp__my_files_x__rm\"\n", "", "", "mcp__my_files_x__rm"},
		{"codex", codex, "hooks.json", `{"hooks": {"PreToolUse": [{"matcher": "mcp__my_files_x__rm"}]}}`, "mcp__my_files_x__rm in FILE"},
		{"codex", codex, "work.config.toml", "[mcp_servers.\"my files.x\"]\nenabled_tools = [\"ls\"]\n", "mcp_servers.my files.x in FILE"},
		{"codex", codex, "agents/a.toml", "[mcp_servers.\"my files.x\"]\nenabled_tools = [\"ls\"]\n", "mcp_servers.my files.x in FILE"},
		{"cline", claude, "settings.json", `{"disabledTools": ["editor", "my_files_x__rm_0f9e893e"]}`, "my_files_x__rm_0f9e893e"},
		{"qwen", gemini(`"tools": {"disabled": ["agent", "mcp__my_files_x__rm"]},`), "", "", "mcp__my_files_x__rm"},
		{"qwen", gemini(`"permissions": {"deny": ["mcp__my_files_x__rm"]},`), "", "", "mcp__my_files_x__rm"},
		{"codex", codex, "rules/a.rules", `deny("mcp__my_files_x__rm")`, "mcp__my_files_x__rm in FILE"},
	} {
		t.Run(c.client+" "+c.why, func(t *testing.T) {
			o := takeover(t, c.text)
			o.Client, o.Dir = c.client, t.TempDir()
			o.Rules = []string{filepath.Join(o.Dir, "settings.json")}
			why := c.why
			if c.file != "" {
				path := filepath.Join(o.Dir, c.file)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
				require.NoError(t, os.WriteFile(path, []byte(c.content), 0o600))
				why = strings.Replace(why, "FILE", path, 1)
			}
			moved, stay, err := o.Install()
			require.NoError(t, err)
			assert.Equal(t, map[string]string{"my files.x": "the rule " + why + " restricts it"}, stay)
			assert.Equal(t, []string{"web"}, moved)
		})
	}
}

// TestWhatIsNotUnderstoodKeepsEveryServer checks rules that may be for a tool of any server.
func TestWhatIsNotUnderstoodKeepsEveryServer(t *testing.T) {
	for client, more := range map[string][]string{
		"gemini": {`"tools": {"exclude": ["rm"]}`, `"excludeTools": ["write_note"]`, `"policyPaths": ["/p"]`, `"tools": {"exclude": ["mcp_*_rm"]}`},
		"claude": {`"hooks": {"PreToolUse": [{"matcher": ".*write.*"}]}`, `"hooks": {"PreToolUse": [{"matcher": "mcp__(a|b)__rm"}]}`,
			`"hooks": {"PreToolUse": [{"matcher": "(?i)bash"}]}`},
	} {
		for _, text := range more {
			o := takeover(t, `{`+text+`, "mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}`)
			o.Client = client
			moved, stay, err := o.Install()
			require.NoError(t, err)
			assert.Empty(t, moved, text)
			assert.Len(t, stay, 2, text)
		}
	}
	o := takeover(t, `{"mcpServers": {"a": {"command": "x"}}}`)
	o.Client, o.Dir = "gemini", t.TempDir()
	broken := filepath.Join(o.Dir, "policies", "a.toml")
	require.NoError(t, os.MkdirAll(filepath.Dir(broken), 0o700))
	require.NoError(t, os.WriteFile(broken, []byte("[[rule"), 0o600))
	_, _, err := o.Install()
	assert.ErrorContains(t, err, broken)
}

// TestARuleForEverythingKeepsNoServer checks rules that hold for the gateway's tools as they did for the server's, and
// rules for the client's own tools.
func TestARuleForEverythingKeepsNoServer(t *testing.T) {
	for client, more := range map[string][]string{
		"gemini": {`"tools": {"exclude": ["run_shell_command(rm)", "ShellTool", "other__rm"]}`, `"hooks": {"AfterTool": [{"matcher": "read_file|write_.*"}]}`},
		"claude": {`"hooks": {"PostToolUse": [{"matcher": "Bash|Read|Grep|mcp__.*"}], "PreToolUse": [{"matcher": "*"}, {"matcher": "Edit.*|Write"}, {"matcher": "mcp__other__.*"}]}`},
	} {
		for _, text := range more {
			o := takeover(t, `{`+text+`, "mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}`)
			o.Client = client
			moved, stay, err := o.Install()
			require.NoError(t, err)
			assert.Equal(t, []string{"a", "b"}, moved, "%s: %v", text, stay)
		}
	}
}

func TestServersThatFoldToOneAreNotMoved(t *testing.T) {
	text := `{"mcpServers": {"My Shop": {"command": "x"}, "my_shop": {"command": "y"}}}`
	o := takeover(t, text)
	_, _, err := o.Install()
	assert.ErrorContains(t, err, `the servers "My Shop" and "my_shop" would both be "my-shop"`)
	assert.Equal(t, text, read(t, o.File))
}

// TestProgramsKeepEveryServer: a hook of Cline is a program, which may refuse any call.
func TestProgramsKeepEveryServer(t *testing.T) {
	o := takeover(t, `{"mcpServers": {"files": {"command": "x"}}}`)
	o.Client, o.Dir = "cline", filepath.Join(t.TempDir(), ".cline")
	moved, _, err := o.Plan()
	require.NoError(t, err)
	assert.Equal(t, []string{"files"}, moved)
	for _, hook := range []string{filepath.Join(o.Dir, "hooks", "PreToolUse"), filepath.Join(filepath.Dir(o.Dir), "Documents", "Cline", "Hooks", "PreToolUse")} {
		require.NoError(t, os.MkdirAll(filepath.Dir(hook), 0o700))
		require.NoError(t, os.WriteFile(hook, nil, 0o700))
		moved, stay, err := o.Plan()
		require.NoError(t, err)
		assert.Empty(t, moved)
		assert.Equal(t, hook+" may restrict it, and is not read", stay["files"])
		require.NoError(t, os.Remove(hook))
	}
}

// TestUnreadRulesMoveNothing: of a client whose rules are not read, no server is moved, and the user is told why.
func TestUnreadRulesMoveNothing(t *testing.T) {
	_, err := Of("copilot", "mcp-pruner", os.LookupEnv)
	assert.ErrorContains(t, err, "what GitHub Copilot CLI allows and denies is not read, and behind the gateway its servers could be allowed more")
}
