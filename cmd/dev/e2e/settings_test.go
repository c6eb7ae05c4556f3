//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// denied is a rule of the user's that Claude Code has to follow.
const denied = `"permissions": {"deny": ["Bash(touch *)"]}`

// TestCommentedSettings proves that Claude Code ignores a settings file with a comment as a whole, its deny rules
// included, and that init and doctor say so instead of adding hooks that would not run either.
func TestCommentedSettings(t *testing.T) {
	for text, follows := range map[string]bool{
		"{\n  " + denied + "\n}\n":            true,
		"{\n  // mine\n  " + denied + "\n}\n": false,
		"{\n  " + denied + ",\n}\n":           false,
	} {
		w := newWorld(t, only("claude"))
		path := filepath.Join(w.home, "settings.json")
		w.write(path, text, 0o600)
		marker := filepath.Join(w.dir, "marker")
		w.model.Play(native("", "Bash", map[string]any{"command": "touch " + marker, "description": "make a file"}), done)
		said := w.claude()
		assert.Equal(t, follows, !exists(marker), "%s\n%s", text, said)

		out, stderr, err := w.verb("init", "claude")
		if follows {
			require.NoError(t, err, out+stderr)
			continue
		}
		assert.ErrorContains(t, err, "exit status 1")
		assert.Regexp(t, `settings\.json: cannot be read by Claude Code: line 2: `, stderr)
		now, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, text, string(now))
		out, _, err = w.verb("doctor")
		require.Error(t, err)
		assert.Regexp(t, `(?m)^BAD +claude +.*settings\.json: cannot be read by Claude Code: line 2: `, out)
	}
}

// TestOddSettingsStayInForce proves that a client reads a file of an unusual form after init as before: the user's own
// settings are in force, and our addition is.
func TestOddSettingsStayInForce(t *testing.T) {
	for _, text := range []string{
		"{\r\n\t" + denied + "\r\n}",
		`{"hooks": {"PostToolUse": 1}, "permissions": {}, "hooks": {}, ` + denied + `}`,
	} {
		w := newWorld(t, only("claude"))
		w.env = append(w.env, "XDG_STATE_HOME="+filepath.Join(w.home, "state"))
		w.write(filepath.Join(w.home, "settings.json"), text, 0o600)
		w.write(filepath.Join(w.dir, "ledger.go"), ledgerGo(), 0o644)
		w.ours("init", "claude")
		marker := filepath.Join(w.dir, "marker")
		w.model.Play(
			native("", "Bash", map[string]any{"command": "touch " + marker, "description": "make a file"}),
			native("I look where openLedger counts retries.", "Read", map[string]any{"file_path": filepath.Join(w.dir, "ledger.go")}), done)
		said := w.claude()
		assert.NoFileExists(t, marker, text)
		results := w.results()
		require.Len(t, results, 2, said)
		assert.Less(t, len(results[1].text), len(ledgerGo())/2, "the hook works: %s", text)
	}
}

// TestOddServersAreListed proves the same for the lists of servers of the other clients.
func TestOddServersAreListed(t *testing.T) {
	for _, c := range []struct {
		client, program string
		list            []string
		file            string
		texts           []string
	}{
		{"codex", "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex", []string{"mcp", "list"}, ".codex/config.toml", []string{
			"[mcp_servers]\nother = { command = \"true\" } # mine\n", "mcp_servers.other.command = \"true\"", "[mcp_servers.other]\r\ncommand = \"true\"\r\n"}},
		{"opencode", "opencode-linux-x64/bin/opencode", []string{"debug", "config"}, ".config/opencode/opencode.json", []string{
			"// mine\n{\"mcp\": {\"other\": {\"type\": \"local\", \"command\": [\"true\"]},},}\n"}},
		{"opencode", "opencode-linux-x64/bin/opencode", []string{"debug", "config"}, ".config/opencode/opencode.jsonc", []string{
			"{\"mcp\": {}, \"mcp\": {\"other\": {\"type\": \"local\", /* x */ \"command\": [\"true\"]}}}"}},
	} {
		for _, text := range c.texts {
			home := t.TempDir()
			path := filepath.Join(home, c.file)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			env := []string{"PATH=/usr/bin:/bin", "HOME=" + home, "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"}
			init := exec.Command(pruner, "init", c.client, "--mcp")
			init.Dir, init.Env = home, env
			out, err := init.CombinedOutput()
			require.NoError(t, err, "%s\n%s", text, out)
			list := exec.Command(installed(c.program), c.list...)
			list.Dir, list.Env = home, env
			out, err = list.CombinedOutput()
			require.NoError(t, err, "%s\n%s", text, out)
			assert.Contains(t, string(out), "other", text)
			assert.Contains(t, string(out), "pruner", text)
		}
	}
}
