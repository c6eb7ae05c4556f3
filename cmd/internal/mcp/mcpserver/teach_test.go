package mcpserver

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWhoIsTaught(t *testing.T) {
	for client, want := range map[string]bool{"claude-code": true, "codex-mcp-client": true, "opencode": true, "gemini-cli-mcp-client": true, "inspector": false, "": false} {
		assert.Equal(t, want, teaches("auto", client), client)
		assert.True(t, teaches("tool", client))
		assert.False(t, teaches("protocol", client))
	}
}
