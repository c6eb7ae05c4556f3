package initcmd

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
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
	before := filesBelow(t, dir)
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
	require.Equal(t, before, filesBelow(t, dir))
}

// init sends Codex through the proxy by one line before everything else, which is no one's but its owner's to read. Codex rewrites
// the file, so that only the line is taken out. Where the line would change nothing, or an address of the user's own, it stays out.
func TestCodexGetsOneLine(t *testing.T) {
	for name, text := range map[string]string{
		"a file":         "# mine\nmodel = \"gpt-6.1-sol\"\n\n[features]\ngoals = false # off\n",
		"without an end": "[a]\nb = 1",
		"of Windows":     "model = \"x\"\r\n[a]\r\nb = 1\r\n",
		"no file":        "",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			config := filepath.Join(dir, ".codex", "config.toml")
			if text != "" {
				write(t, config, text)
			}
			before := filesBelow(t, dir)
			for range 2 {
				code, stdout, stderr := verb(t, dir, "codex", "--proxy")
				require.Equal(t, 0, code, stderr)
				require.NotContains(t, stdout, "mcpp_")
				require.Contains(t, stdout, "\"Reconnecting...\"")
			}
			now, err := os.ReadFile(config)
			require.NoError(t, err)
			require.Regexp(t, `^openai_base_url = "http://127\.0\.0\.1:8787/mcpp_[0-9a-f]{48}/v1"\r?\n`, string(now))
			require.True(t, strings.HasSuffix(string(now), text))
			require.Equal(t, 1, strings.Count(string(now), "openai_base_url"))
			if runtime.GOOS != "windows" {
				info, err := os.Stat(config)
				require.NoError(t, err)
				require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
			}
			if name == "a file" { // as Codex does when it trusts a folder
				write(t, config, string(now)+"[projects.\"/x\"]\ntrust_level = \"trusted\"\n")
			}
			code, _, stderr := verb(t, dir, "codex", "--uninstall", "--proxy")
			require.Equal(t, 0, code, stderr)
			if name == "a file" {
				now, err = os.ReadFile(config)
				require.NoError(t, err)
				require.Equal(t, text+"[projects.\"/x\"]\ntrust_level = \"trusted\"\n", string(now))
				return
			}
			require.Equal(t, before, filesBelow(t, dir))
		})
	}
	for text, why := range map[string]string{
		"openai_base_url = \"https://corp.example/v1\"\n": "openai_base_url is set to something else",
		"model_provider = \"corp\"\n":                     "whose address openai_base_url does not move",
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, ".codex", "config.toml"), text)
		code, _, stderr := verb(t, dir, "codex", "--proxy")
		require.NotEqual(t, 0, code)
		require.Contains(t, stderr, why)
	}
}

// init claude --proxy sets the model of Claude Code's small requests where the user has none, says what another address takes away,
// and undoes both.
func TestClaudeKeepsItsSmallModel(t *testing.T) {
	const ours, name = "claude-haiku-4-5-20251001", "ANTHROPIC_DEFAULT_HAIKU_MODEL"
	for text, want := range map[string]any{
		`{}`: ours, `{"env":{"` + name + `":"mine"}}`: "mine", `{"env":{"ANTHROPIC_SMALL_FAST_MODEL":"mine"}}`: nil, `{"env":{"` + name + `":"` + ours + `"}}`: ours,
	} {
		dir := t.TempDir()
		settings := filepath.Join(dir, ".claude", "settings.json")
		write(t, settings, text)
		code, stdout, stderr := verb(t, dir, "claude", "--proxy")
		require.Equal(t, 0, code, stderr)
		require.Contains(t, stdout, "no tool Artifact")
		now, err := os.ReadFile(settings)
		require.NoError(t, err)
		j, err := setup.ParseJSON(now)
		require.NoError(t, err)
		require.Equal(t, want, j.Get("env", name))
		require.NoError(t, j.Set("dark", "theme")) // the file is not the one that init left
		write(t, settings, string(j.Bytes()))
		code, _, stderr = verb(t, dir, "claude", "--uninstall", "--proxy")
		require.Equal(t, 0, code, stderr)
		now, err = os.ReadFile(settings)
		require.NoError(t, err)
		j, err = setup.ParseJSON(now)
		require.NoError(t, err)
		if text == `{}` {
			want = nil
		}
		require.Equal(t, want, j.Get("env", name), text)
	}
}
