package initcmd

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
)

// init writes the secret of the proxy where the client reads it, and the file is its owner's alone. Headers of the user's
// own stay, another client keeps the secret, and the last uninstall removes it.
func TestTheProxyHasASecret(t *testing.T) {
	dir := t.TempDir()
	settings := filepath.Join(dir, ".claude", "settings.json")
	write(t, settings, `{"env":{"ANTHROPIC_CUSTOM_HEADERS":"X-Team: a\nX-Other: b"}}`)
	require.NoError(t, os.Chmod(settings, 0o644))
	before := files(t, dir)
	for _, client := range []string{"claude", "opencode"} {
		code, stdout, stderr := verb(t, dir, client, "--proxy")
		require.Equal(t, 0, code, stderr)
		require.NotContains(t, stdout, "mcpp_")
		_, stdout, _ = verb(t, dir, client, "--show")
		require.NotContains(t, stdout, "mcpp_")
	}
	lookup := func(name string) (string, bool) { return map[string]string{"HOME": dir}[name], name == "HOME" }
	want, err := secret.Load(lookup)
	require.NoError(t, err)
	get := func(file string, path ...string) any {
		text, err := os.ReadFile(filepath.Join(dir, file))
		require.NoError(t, err)
		j, err := setup.ParseJSON(text)
		require.NoError(t, err)
		return j.Get(path...)
	}
	require.Equal(t, "X-Team: a\nX-Other: b\nX-Mcp-Pruner-Secret: "+string(want), get(".claude/settings.json", "env", "ANTHROPIC_CUSTOM_HEADERS"))
	require.Equal(t, "http://127.0.0.1:8787", get(".claude/settings.json", "env", "ANTHROPIC_BASE_URL"))
	file, err := secret.File(lookup)
	require.NoError(t, err)
	opencode := filepath.Join(".config", "opencode", "opencode.json")
	require.Equal(t, "{file:"+file+"}", get(opencode, "provider", "anthropic", "options", "headers", secret.Header))
	if runtime.GOOS != "windows" {
		for _, path := range []string{settings, file} {
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), path)
		}
	}
	code, _, stderr := verb(t, dir, "claude", "--uninstall", "--proxy")
	require.Equal(t, 0, code, stderr)
	require.FileExists(t, file, "opencode has it")
	code, _, stderr = verb(t, dir, "opencode", "--uninstall", "--proxy")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, before, files(t, dir))
}
