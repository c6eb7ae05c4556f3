package gateway

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const claudeConfig = `{
  "numStartups": 3, // kept
  "mcpServers": {
    "files": {"command": "files-server", "args": ["/x"], "env": {"TOKEN": "s3cret"}},
    "web": {"type": "http", "url": "https://h/mcp"},
    "old": {"type": "sse", "url": "https://h/sse"},
    "pruner": {"command": "mcp-pruner"}
  },
  "last": true
}
`

func takeover(t *testing.T, text string) Takeover {
	t.Helper()
	dir := t.TempDir()
	o := Takeover{Client: "claude", File: filepath.Join(dir, ".claude.json"), Config: filepath.Join(dir, "own", "gateway.json"), Program: "/bin/mcp-pruner"}
	require.NoError(t, os.WriteFile(o.File, []byte(text), 0o600))
	return o
}

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(raw)
}

func TestServersGoBehindTheGatewayAndBack(t *testing.T) {
	o := takeover(t, claudeConfig)
	moved, err := o.Install()
	require.NoError(t, err)
	assert.Equal(t, []string{"files", "web"}, moved)
	after := read(t, o.File)
	assert.NotContains(t, after, "s3cret")
	for _, stays := range []string{`"numStartups": 3, // kept`, `"old"`, `"pruner"`, `"gateway"`, o.Config} {
		assert.Contains(t, after, stays)
	}
	servers, err := ReadConfig([]byte(read(t, o.Config)), func(string) (string, bool) { return "", false })
	require.NoError(t, err)
	assert.Len(t, servers, 2)

	moved, err = o.Install()
	require.NoError(t, err)
	assert.Empty(t, moved, "the second time changes nothing")
	assert.Equal(t, after, read(t, o.File))

	changed, err := o.Uninstall()
	require.NoError(t, err)
	assert.True(t, changed)
	assert.Equal(t, claudeConfig, read(t, o.File), "byte for byte")
	assert.NoFileExists(t, o.Config)
}

func TestServersGoBackIntoAFileThatChangedSince(t *testing.T) {
	o := takeover(t, claudeConfig)
	_, err := o.Install()
	require.NoError(t, err)
	changed := strings.Replace(read(t, o.File), `"numStartups": 3`, `"numStartups": 4`, 1)
	require.NoError(t, os.WriteFile(o.File, []byte(changed), 0o600))
	_, err = o.Uninstall()
	require.NoError(t, err)
	back := read(t, o.File)
	for _, there := range []string{`"numStartups": 4, // kept`, `"s3cret"`, `"web"`, `"old"`, `"pruner"`} {
		assert.Contains(t, back, there)
	}
	assert.NotContains(t, back, `"gateway"`)
}
