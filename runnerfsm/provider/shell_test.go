package provider_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/provider"
)

// TestClaudeGrantsShell: only a rule for every command, or no rules at all, is a
// shell that the user gave (SPEC A9).
func TestClaudeGrantsShell(t *testing.T) {
	for _, c := range []struct {
		options []string
		granted bool
	}{
		{nil, false},
		{[]string{"--dangerously-skip-permissions"}, true},
		{[]string{"--permission-mode", "bypassPermissions"}, true},
		{[]string{"--permission-mode=bypassPermissions"}, true},
		{[]string{"--permission-mode", "acceptEdits"}, false},
		{[]string{"--allowedTools", "Bash"}, true},
		{[]string{"--allowedTools", "Read", "Bash", "--verbose"}, true},
		{[]string{"--allowedTools=Read,Bash(*)"}, true},
		{[]string{"--allowed-tools", "Read Bash"}, true},
		{[]string{"--allowedTools", "Bash(git log:*)"}, false},
		{[]string{"--allowedTools", "Bash(echo Bash )"}, false},
		{[]string{"--allowedTools", "mcp__pruner__bash"}, false},
		{[]string{"--allowedTools", "Read", "--model", "Bash"}, false},
		{[]string{"--allowedTools", "Bash", "--permission-mode", "plan"}, false},
		{[]string{"--dangerously-skip-permissions", "--disallowedTools", "Bash(rm:*)"}, false},
		{[]string{"--dangerously-skip-permissions", "--tools", "Read,Grep"}, false},
		{[]string{"--dangerously-skip-permissions", "--tools", "default"}, true},
		{[]string{"--dangerously-skip-permissions", "--settings", `{"sandbox":{"enabled":true}}`}, false},
		{[]string{"--dangerously-skip-permissions", "--settings", `{"permissions":{"deny":["Bash(curl:*)"]}}`}, false},
		{[]string{"--dangerously-skip-permissions", "--settings", `{"permissions":{"allow":["Bash"]}}`}, true},
		{[]string{"--dangerously-skip-permissions", "--settings", `{"sandbox"`}, false},
	} {
		set := inject.Settings{Dir: t.TempDir(), Env: []string{"CLAUDE_CONFIG_DIR=" + t.TempDir()}}
		assert.Equal(t, c.granted, provider.Claude{}.GrantsShell(c.options, set), "%q", c.options)
	}
}

// TestClaudesSettingsWithholdTheShell: a sandbox that is set up in a file counts.
func TestClaudesSettingsWithholdTheShell(t *testing.T) {
	skips := []string{"--dangerously-skip-permissions"}
	for _, file := range []string{"home/.claude/settings.json", "work/.claude/settings.json", "work/.claude/settings.local.json"} {
		dir := t.TempDir()
		set := inject.Settings{Dir: filepath.Join(dir, "work"), Env: []string{"HOME=" + filepath.Join(dir, "home")}}
		assert.True(t, provider.Claude{}.GrantsShell(skips, set))
		path := filepath.Join(dir, file)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(`{"sandbox": {"enabled": true}}`), 0o600))
		assert.False(t, provider.Claude{}.GrantsShell(skips, set), file)
	}
}

func TestCodexGrantsShell(t *testing.T) {
	for _, c := range []struct {
		options []string
		granted bool
	}{
		{nil, false},
		{[]string{"--sandbox", "read-only"}, false},
		{[]string{"-s", "workspace-write"}, false},
		{[]string{"--full-auto"}, false},
		{[]string{"--sandbox", "danger-full-access"}, true},
		{[]string{"--sandbox=danger-full-access"}, true},
		{[]string{"-sdanger-full-access"}, true},
		{[]string{"--dangerously-bypass-approvals-and-sandbox"}, true},
		{[]string{"-c", `sandbox_mode="danger-full-access"`}, false},
		{[]string{"--sandbox", "danger-full-access", "--disable", "shell_tool"}, false},
		{[]string{"--sandbox", "danger-full-access", "-c", "features.shell_tool=false"}, false},
	} {
		assert.Equal(t, c.granted, provider.Codex{}.GrantsShell(c.options, inject.Settings{}), "%q", c.options)
	}
}

// TestNoShellOnTheCommandLine: without a shell every client is told in its own way.
func TestNoShellOnTheCommandLine(t *testing.T) {
	launch := provider.Launch{Servers: inject.Servers{"pruner": {Command: "/s"}}, Tools: []string{"read", "grep"}}
	claude := provider.Claude{}.Args(launch)
	assert.Contains(t, claude, "--disallowedTools=mcp__pruner__bash")
	assert.Contains(t, claude, "--allowedTools=mcp__pruner__grep")
	assert.NotContains(t, claude, "--allowedTools=mcp__pruner")
	assert.Contains(t, provider.Codex{}.Args(launch), `mcp_servers.pruner.enabled_tools=["read","grep"]`)

	launch.Tools = []string{"read", "bash", "grep"}
	claude = provider.Claude{}.Args(launch)
	assert.Contains(t, claude, "--allowedTools=mcp__pruner__bash")
	assert.NotContains(t, claude, "--disallowedTools=mcp__pruner__bash")
	assert.Contains(t, provider.Codex{}.Args(launch), `mcp_servers.pruner.enabled_tools=["read","bash","grep"]`)
}
