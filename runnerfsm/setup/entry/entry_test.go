package entry

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
)

// TestEntries checks the file and the names of every client.
func TestEntries(t *testing.T) {
	dir := t.TempDir()
	home := setup.Home{Lookup: func(name string) (string, bool) {
		value, set := map[string]string{"HOME": dir, "CODEX_HOME": filepath.Join(dir, "cx")}[name]
		return value, set
	}}
	write := func(name, text string) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	assert.Empty(t, All(home, dir))
	write(".mcp.json", `{"mcpServers":{"code":{"command":"npx","args":["-y","mcp-pruner"]},"other":{"command":"x"}}}`)
	write("cx/config.toml", "[mcp_servers.pruner]\nurl = \"http://127.0.0.1:8005/mcp\"\n")
	write(".gemini/settings.json", `{"mcpServers":{"p":{"command":"/opt/mcp-pruner","env":{"PRUNER_URL":""}}}}`)
	write(".config/opencode/opencode.json", `{"mcp":{"p":{"type":"local","command":["jeeves-mcp-pruner","-x"],"environment":{"A":"b"}}}}`)
	write(".cursor/mcp.json", `{"mcpServers":`)
	got := All(home, dir)
	require.Len(t, got, 5)
	project, codex, gemini, opencode, cursor := got[0], got[1], got[2], got[3], got[4]
	assert.Equal(t, "claude project code npx", project.Client+" "+project.Scope+" "+project.Name+" "+project.Command)
	assert.Equal(t, "http://127.0.0.1:8005/mcp", codex.URL)
	assert.Equal(t, map[string]string{"PRUNER_URL": ""}, gemini.Env)
	assert.ErrorContains(t, cursor.Err, "mcp.json: cannot be read by Cursor: line 1: ")
	assert.Equal(t, []string{"-x"}, opencode.Args)
	assert.Equal(t, map[string]string{"A": "b"}, opencode.Env)
	assert.Equal(t, "/opt/mcp-pruner", gemini.Command)
}

// A server that is only given this program's name is another one, which install and uninstall leave.
func TestAnEntryThatOnlyMentionsUs(t *testing.T) {
	for _, test := range []struct {
		command string
		args    []string
		starts  bool
	}{
		{"/opt/mcp-pruner", nil, true}, {"mcp-pruner.exe", []string{"--x"}, true}, {"jeeves-mcp-pruner", nil, true}, {"npx", []string{"-y", "mcp-pruner"}, true},
		{"node", []string{"/x/mcp-pruner.js"}, true},
		{"/home/me/wrap", []string{"mcp-pruner"}, false}, {"mcp-pruner-wrapper", nil, false}, {"sh", []string{"-c", "mcp-pruner"}, false}, {"", nil, false},
	} {
		assert.Equal(t, test.starts, Entry{Command: test.command, Args: test.args}.Starts(), test)
	}
}
