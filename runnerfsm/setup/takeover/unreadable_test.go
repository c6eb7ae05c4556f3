package takeover

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestUnreadableConfigurationStays checks that no server is moved out of a file that the client does not read as it
// stands, and that nothing is moved without a home folder.
func TestUnreadableConfigurationStays(t *testing.T) {
	for client, text := range map[string]string{
		"claude": "{\n\"mcpServers\": {\"a\": {\"command\": \"b\"}}} // mine\n",
		"gemini": "{\n\"mcpServers\": {\"a\": {\"command\": \"b\"}},}\n",
		"codex":  "a = 1\na = 2\n[mcp_servers.a]\ncommand = \"b\"\n",
	} {
		o := takeover(t, text)
		o.Client = client
		_, _, err := o.Install()
		require.ErrorContains(t, err, "line 2", client)
		assert.Equal(t, text, read(t, o.File))
		assert.NoFileExists(t, o.Config)
	}
	o := takeover(t, "")
	require.NoError(t, os.Remove(o.File))
	require.NoError(t, os.Symlink(filepath.Join(t.TempDir(), "nowhere"), o.File))
	_, _, err := o.Install()
	assert.ErrorContains(t, err, "which cannot be followed")

	_, err = Of("claude", "/bin/mcp-pruner", func(string) (string, bool) { return "", false })
	assert.ErrorContains(t, err, "HOME is not set")
}
