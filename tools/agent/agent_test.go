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
