package hook

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// ruleWorld is a home folder in whose bin this test program is "mcp-pruner".
type ruleWorld struct {
	t          *testing.T
	home, link string
}

func newRuleWorld(t *testing.T) *ruleWorld {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege on Windows")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	w := &ruleWorld{t: t, home: t.TempDir()}
	w.link = filepath.Join(w.home, "bin", "mcp-pruner")
	w.make(self, w.link)
	t.Setenv("PATH", filepath.Dir(w.link))
	return w
}

func (w *ruleWorld) make(target, link string) {
	w.t.Helper()
	require.NoError(w.t, os.MkdirAll(filepath.Dir(link), 0o700))
	require.NoError(w.t, os.Symlink(target, link))
}

func (w *ruleWorld) write(text string, path ...string) {
	w.t.Helper()
	file := filepath.Join(append([]string{w.home}, path...)...)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(w.t, os.WriteFile(file, []byte(text), 0o600))
}

func (w *ruleWorld) lookup(name string) (string, bool) {
	if name == "HOME" {
		return w.home, true
	}
	return "", false
}

// The program's name is enough where the client's shell finds it, which is unknown of Codex's, a login shell. Where the user's rule names a path, that path is used, because the
// rule would not match the name.
func TestTheCommandIsTheOneThatTheRuleNames(t *testing.T) {
	for client, write := range map[string]func(w *ruleWorld, path string){
		"claude": func(w *ruleWorld, path string) {
			w.write(`{"permissions":{"allow":["Read","Bash(`+path+` recover:*)"]}}`, ".claude", "settings.json")
		},
		"opencode": func(w *ruleWorld, path string) {
			w.write("{ // mine\n\"permission\":{\"bash\":{\"*\":\"ask\",\""+path+" recover *\":\"allow\"}}}", ".config", "opencode", "opencode.jsonc")
		},
		"codex": func(w *ruleWorld, path string) {
			w.write(agent.Codex.Rule.Line(path), ".codex", "rules", "mcp-pruner.rules")
		},
		"gemini": func(w *ruleWorld, path string) {
			w.write(agent.Gemini.Rule.Line(path), ".gemini", "policies", "mcp-pruner.toml")
		},
	} {
		t.Run(client, func(t *testing.T) {
			w := newRuleWorld(t)
			without := "mcp-pruner recover"
			if client == "codex" {
				without = w.link + " recover"
			}
			assert.Equal(t, without, BackCommand(client, w.lookup))
			write(w, "/usr/bin/another-mcp-pruner")
			assert.Equal(t, without, BackCommand(client, w.lookup), "a rule for another program")
			write(w, "mcp-pruner")
			assert.Equal(t, without, BackCommand(client, w.lookup), "a rule for the name")
			write(w, w.link)
			assert.Equal(t, w.link+" recover", BackCommand(client, w.lookup))
			t.Setenv("PATH", t.TempDir())
			assert.Equal(t, w.link+" recover", BackCommand(client, w.lookup))
		})
	}
}

func TestDamagedSettingsHaveNoRule(t *testing.T) {
	w := newRuleWorld(t)
	for _, text := range []string{"", "{", "[]", `{"permissions":7}`, `{"permissions":{"allow":"x"}}`, "// Bash(" + w.link + " recover:*)"} {
		w.write(text, ".claude", "settings.json")
		assert.Equal(t, "mcp-pruner recover", BackCommand("claude", w.lookup), text)
	}
	require.NoError(t, os.Remove(filepath.Join(w.home, ".claude", "settings.json")))
	require.NoError(t, os.Mkdir(filepath.Join(w.home, ".claude", "settings.json"), 0o700))
	assert.Equal(t, "mcp-pruner recover", BackCommand("claude", w.lookup))
	assert.Equal(t, "mcp-pruner recover", BackCommand("", w.lookup), "a client that is not known")
}

// After an upgrade by a version manager the folder of the old version is gone. The link in the state folder then leads to the
// version that ran last.
func TestALinkForAProgramThatMoves(t *testing.T) {
	w := newRuleWorld(t)
	link := filepath.Join(w.home, ".local", "state", "mcp-pruner", "bin", "mcp-pruner")
	for _, version := range []string{"1.0.0", "1.1.0"} {
		path := filepath.Join(w.home, "versions", version, "mcp-pruner")
		w.write(version, "versions", version, "mcp-pruner")
		for range 2 {
			assert.Equal(t, link, backLink(path, w.lookup))
			require.NoError(t, pointLink(link, path))
		}
		text, err := os.ReadFile(link)
		require.NoError(t, err)
		assert.Equal(t, version, string(text))
		require.NoError(t, os.RemoveAll(filepath.Dir(path)))
	}
	left, err := os.ReadDir(filepath.Dir(link))
	require.NoError(t, err)
	assert.Len(t, left, 1)
	assert.Empty(t, backLink(w.link, w.lookup), "its own path lasts")
	assert.Empty(t, backLink("/v/1.0.0/mcp-pruner", func(string) (string, bool) { return "", false }), "there is no state folder")
	path, err := LastingPath(w.lookup)
	require.NoError(t, err)
	assert.Equal(t, w.link, path)
}

func TestRules(t *testing.T) {
	home := setup.Home{Lookup: (&ruleWorld{home: "/home/me"}).lookup}
	for client, want := range map[string]string{
		"claude": "Bash(/opt/bin/mcp-pruner recover:*)", "opencode": "/opt/bin/mcp-pruner recover *",
		"codex":  `prefix_rule(pattern = ["/opt/bin/mcp-pruner", "recover"], decision = "allow")`,
		"gemini": `commandPrefix = "/opt/bin/mcp-pruner recover"`,
	} {
		rule, ok, err := BackRuleFor(client, "/opt/bin/mcp-pruner", home)
		require.NoError(t, err)
		require.True(t, ok)
		assert.Contains(t, rule.Text, want)
		assert.Contains(t, rule.File.Path, "/home/me/")
		_, ok, err = BackRuleFor(client, "/opt/my bin/mcp-pruner", home)
		require.NoError(t, err)
		assert.False(t, ok, "a path in quotes is another word")
	}
	_, _, err := BackRuleFor("claude", "/opt/bin/mcp-pruner", setup.Home{Lookup: func(string) (string, bool) { return "", false }})
	assert.Error(t, err)
}
