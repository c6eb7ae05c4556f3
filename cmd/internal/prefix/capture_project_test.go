package prefix

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// projectOf is a folder below a home, with an administrator's file beside them.
func projectOf(t *testing.T, c agent.Client) (p Project, home string) {
	t.Helper()
	home = t.TempDir()
	c.Files.Managed = func(string, func(string) string) []string { return []string{filepath.Join(home, "managed.json")} }
	p = Project{Client: &c, Folder: filepath.Join(home, "p"), Lookup: func(name string) (string, bool) { return home, name == "HOME" }}
	require.NoError(t, os.Mkdir(p.Folder, 0o700))
	return p, home
}

func putFile(t *testing.T, text string, path ...string) {
	t.Helper()
	file := filepath.Join(path...)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
}

func TestTrust(t *testing.T) {
	p, home := projectOf(t, agent.Claude)
	require.ErrorContains(t, p.Trusted(), "Claude Code has not been told to trust "+p.Folder)
	putFile(t, `{"projects": {"`+filepath.ToSlash(home)+`": {"hasTrustDialogAccepted": true}}}`, home, ".claude.json")
	require.NoError(t, p.Trusted(), "the folder above is trusted")
	putFile(t, `{"projects": {`, home, ".claude.json")
	require.ErrorContains(t, p.Trusted(), "cannot be read by Claude Code")

	p, home = projectOf(t, agent.Codex)
	putFile(t, "[projects.'"+p.Folder+"']\ntrust_level = \"untrusted\"\n", home, ".codex", "config.toml")
	require.Error(t, p.Trusted())
	putFile(t, "[projects.'"+p.Folder+"']\ntrust_level = \"trusted\"\n", home, ".codex", "config.toml")
	require.NoError(t, p.Trusted())

	p, home = projectOf(t, agent.Gemini)
	putFile(t, `{"`+home+`": "TRUST_FOLDER", "`+p.Folder+`": "DO_NOT_TRUST"}`, home, ".gemini", "trustedFolders.json")
	require.Error(t, p.Trusted(), "the nearest entry counts")
	putFile(t, `{"`+home+`": "TRUST_FOLDER"}`, home, ".gemini", "trustedFolders.json")
	require.NoError(t, p.Trusted())

	p, _ = projectOf(t, agent.Opencode)
	require.NoError(t, p.Trusted())
	putFile(t, "{}", p.Folder, "opencode.json")
	require.ErrorContains(t, p.Trusted(), "has settings of its own")
}

func TestWhatStartsIsNamed(t *testing.T) {
	p, home := projectOf(t, agent.Claude)
	require.Equal(t, "no MCP servers and no hooks", p.Starts())
	putFile(t, `{"mcpServers": {"notes": {}}, "projects": {"`+p.Folder+`": {"mcpServers": {"own": {}}}}}`, home, ".claude.json")
	putFile(t, `{"hooks": {"SessionStart": [], "Stop": []}, "enabledPlugins": {"x@y": true}}`, home, ".claude", "settings.json")
	putFile(t, `{"mcpServers": {"shared": {}}}`, p.Folder, ".mcp.json")
	require.Equal(t, "MCP servers notes, own, shared; hooks SessionStart, Stop; enabledPlugins x@y", p.Starts())
	require.NotEmpty(t, p.Entry("notes"))
	require.Empty(t, p.Entry("shared"), "it is not the user's")
}

func TestWhoDecided(t *testing.T) {
	p, home := projectOf(t, agent.Claude)
	putFile(t, `{"permissions": {"allow": ["Workflow(fast)"]}}`, home, "managed.json")
	putFile(t, `{"mcpServers": {"shared": {}}}`, p.Folder, ".mcp.json")
	putFile(t, "---\n", p.Folder, ".claude", "skills", "plot", "SKILL.md")
	putFile(t, "---\n", p.Folder, ".claude", "agents", "helper.md")
	for _, c := range []struct {
		part sessions.Part
		want string
	}{
		{sessions.Part{Kind: sessions.ToolPart, Name: "Workflow"}, filepath.Join(home, "managed.json")},
		{sessions.Part{Kind: sessions.ToolPart, Name: "mcp__shared__find", Server: "shared"}, filepath.Join(p.Folder, ".mcp.json")},
		{sessions.Part{Kind: sessions.SkillPart, Name: "plot"}, filepath.Join(p.Folder, ".claude", "skills", "plot")},
		{sessions.Part{Kind: sessions.AgentPart, Name: "helper"}, filepath.Join(p.Folder, ".claude", "agents", "helper.md")},
		{sessions.Part{Kind: sessions.ToolPart, Name: "helper"}, ""},
		{sessions.Part{Kind: sessions.SkillPart, Name: "../../.mcp.json"}, ""},
		{sessions.Part{Kind: sessions.SkillPart, Name: "other"}, ""},
	} {
		require.Equal(t, c.want, p.Decided(c.part), c.part.Name)
	}
}

// TestASwitchThatIsSet: Codex's features do not have the names of the tools that they bring.
func TestASwitchThatIsSet(t *testing.T) {
	c := agent.Codex
	home := t.TempDir()
	managed := filepath.Join(home, "managed_config.toml")
	c.Files.Managed = func(string, func(string) string) []string { return []string{managed} }
	p := Project{Client: &c, Folder: filepath.Join(home, "p"), Lookup: func(name string) (string, bool) { return home, name == "HOME" }}
	putFile(t, "[features]\ngoals = true\n", managed)
	putFile(t, "[features]\nmulti_agent = true\n", p.Folder, ".codex", "config.toml")
	require.Equal(t, managed, p.Decided(sessions.Part{Kind: sessions.ToolPart, Name: "update_goal"}))
	require.Equal(t, filepath.Join(p.Folder, ".codex", "config.toml"), p.Decided(sessions.Part{Kind: sessions.ToolPart, Name: "multi_agent_v1__spawn_agent"}))
	require.Empty(t, p.Decided(sessions.Part{Kind: sessions.ToolPart, Name: "web_search"}))
	require.NoError(t, p.Reachable())
	putFile(t, "model_provider = \"other\"\n", managed)
	require.ErrorContains(t, p.Reachable(), managed+" sets model_provider, and nothing wins over it")
}

// TestAnAdministratorsAddress: what would send the client to a real model is refused.
func TestAnAdministratorsAddress(t *testing.T) {
	p, home := projectOf(t, agent.Claude)
	putFile(t, `{"env": {"DISABLE_TELEMETRY": "1"}}`, home, "managed.json")
	require.NoError(t, p.Reachable())
	putFile(t, `{"env": {"ANTHROPIC_BASE_URL": "https://gateway.example"}}`, home, "managed.json")
	require.ErrorContains(t, p.Reachable(), "sets env.ANTHROPIC_BASE_URL, and nothing wins over it")
}
