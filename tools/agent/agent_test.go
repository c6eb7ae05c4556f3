package agent

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCalling(t *testing.T) {
	for userAgent, want := range map[string]string{
		"claude-cli": "claude", "codex_cli_rs": "codex", "GeminiCLI-v1": "gemini", "opencode": "opencode", "python-requests": "", "": "",
	} {
		assert.Equal(t, want, Calling(userAgent).Name, "%q", userAgent)
	}
}

// The tools beside reading, commands and searching whose results a client's hook can replace, as measured.
func TestWhatHooksCanReplace(t *testing.T) {
	for _, tool := range []string{"mcp__github__pull_request_read", "mcp__playwright__browser_snapshot", "webfetch", "codesearch"} {
		assert.True(t, HooksReplace(tool), tool)
	}
	for _, tool := range []string{"Task", "WebFetch", "TaskOutput", "web_fetch", "apply_patch", ""} {
		assert.False(t, HooksReplace(tool), tool)
	}
	assert.False(t, Named("claude").Hooks.Replaces("webfetch"))
}
