//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestContextOfARecording: a proxy records the first request of a session, and context shows the same parts of it as of the
// request for which it starts the client itself.
func TestContextOfARecording(t *testing.T) {
	every(t, func(t *testing.T, c client) {
		w := newWorld(t, c, done)
		w.wrapped()
		started := w.context()
		file := filepath.Join(t.TempDir(), "request.json")
		p := &gcProxy{w: w, store: filepath.Join(t.TempDir(), "ledger.db"), options: []string{"--note", file}}
		p.start()
		defer func() { p.kill() }()
		w.through(p)
		out, err := w.own("say ok").CombinedOutput()
		require.NoError(t, err, string(out))
		p.end()
		info, err := os.Stat(file)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		recorded, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.NotContains(t, string(recorded), "sk-secret")
		report := w.context("--from", file)
		assert.InEpsilon(t, started.Tokens, report.Tokens, 0.05, "the same request, with another prompt")
		if c.name != "gemini" { // here another model than the user's default is asked, which has other tools
			assert.Equal(t, started.names("tool"), report.names("tool"))
		}
		_, stderr, err := w.verb("proxy", "--note", file)
		require.Error(t, err)
		assert.Contains(t, stderr, "exists already; name a new file")
	})
}

// shared are the settings that each client's project has for all who work on it, with something that --apply could switch off.
var shared = map[string]struct{ file, text, name string }{
	"claude":   {".claude/settings.json", `{"permissions": {"allow": ["Workflow"]}} `, "Workflow"},
	"codex":    {".codex/config.toml", "# of the team\n[features]\ngoals = true\n", "update_goal"},
	"opencode": {"opencode.json", "{\n  // of the team\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"permission\": {\"todowrite\": \"allow\"}\n}\n", "todowrite"},
	"gemini":   {".gemini/settings.json", `{"tools": {"core": ["google_web_search", "run_shell_command", "read_file"]}} `, "google_web_search"},
}

// TestContextLeavesSharedSettings: what a project's shared settings name is not switched off, the user is told whose it is, and the
// file stays as it is, also when something else goes.
func TestContextLeavesSharedSettings(t *testing.T) {
	every(t, func(t *testing.T, c client) {
		w := newWorld(t, c, done)
		w.wrapped()
		w.fill()
		of := shared[c.name]
		file := filepath.Join(w.dir, filepath.FromSlash(of.file))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		w.write(file, of.text, 0o644)
		if c.name == "codex" { // it reads the files of a project that is trusted
			config := filepath.Join(w.home, "config.toml")
			text, err := os.ReadFile(config)
			require.NoError(t, err)
			w.write(config, fmt.Sprintf("%s\n[projects.%q]\ntrust_level = \"trusted\"\n", text, w.dir), 0o600)
		}
		w.context() // opencode adds $schema to a file that lacks it, at any start
		files := w.settings()
		out, stderr, err := w.verb("context", c.name, "--trust", "--apply", of.name)
		require.Error(t, err, out)
		assert.Contains(t, stderr, of.name+": decided by "+file)
		assert.Equal(t, files, w.settings())

		options := []string{"--apply", "srv1"}
		if c.name == "claude" {
			options = append(options, "--project")
		}
		applied := w.context(options...)
		assert.Equal(t, []string{"srv1"}, applied.After.Off)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, of.text, string(text))
	})
}

// TestContextOfAnAdministrator: Codex follows its managed settings before all others. What they set is left alone and named, and a
// provider that they select would be asked in earnest.
func TestContextOfAnAdministrator(t *testing.T) {
	w := newWorld(t, both()[1], done)
	if out, err := exec.Command("unshare", "--mount", "true").CombinedOutput(); err != nil {
		t.Skipf("no file of an administrator can be put in place here: %s", out)
	}
	under := func(settings string, args ...string) (string, error) {
		const script = `cp -a /etc "$1/etc" && mount --bind "$1/etc" /etc && mkdir -p /etc/codex && printf '%s\n' "$2" > /etc/codex/managed_config.toml && shift 2 && exec "$@"`
		cmd := exec.Command("unshare", append([]string{"--mount", "sh", "-c", script, "sh", t.TempDir(), settings, pruner, "context", "codex", "--trust"}, args...)...)
		cmd.Dir, cmd.Env = w.dir, w.env
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := under("features.goals = true", "--apply", "update_goal")
	require.Error(t, err, out)
	assert.Contains(t, out, "nothing is changed: update_goal: decided by /etc/codex/managed_config.toml")
	out, err = under(`model_provider = "other"`)
	require.Error(t, err, out)
	assert.Contains(t, out, "/etc/codex/managed_config.toml sets model_provider, and nothing wins over it")
	assert.Empty(t, w.model.Requests())
}

// names lists the parts of a kind.
func (r contextReport) names(kind string) (list []string) {
	for _, p := range r.Parts {
		if p.Kind == kind {
			list = append(list, p.Name)
		}
	}
	return list
}
