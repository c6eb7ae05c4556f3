package wrap

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

const program = "/bin/mcp-pruner"

func list(t *testing.T, client, text string) List {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return List{Client: agent.Named(client), File: setup.ServersFile(client, path), Program: program}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func names(servers []Server) (list []string) {
	for _, s := range servers {
		list = append(list, s.Name)
	}
	return list
}

// TestEachServerIsWrappedWhereItStands plays testdata/*.txtar: a client's file before and after, the servers, and why others stay.
// The file gets its bytes back, and if it was edited in between, the same data with the edit.
func TestEachServerIsWrappedWhereItStands(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			require.NoError(t, err)
			parts := map[string]string{}
			for _, f := range archive.Files {
				parts[f.Name] = string(f.Data)
			}
			client, _, _ := strings.Cut(filepath.Base(path), ".")
			l := list(t, client, parts["before"])
			servers, stay, err := l.Servers()
			require.NoError(t, err)
			said := ""
			for _, s := range servers {
				said += s.Name + ": " + strings.Join(s.Command, " ") + "\n"
			}
			assert.Equal(t, parts["servers"], said)
			for line := range strings.Lines(parts["stay"]) {
				name, why, _ := strings.Cut(strings.TrimSpace(line), ": ")
				assert.Equal(t, why, stay[name], name)
				delete(stay, name)
			}
			assert.Empty(t, stay)

			require.NoError(t, l.Install(names(servers)))
			assert.Equal(t, parts["after"], read(t, l.File.Path))
			again, _, err := l.Servers()
			require.NoError(t, err)
			assert.Empty(t, again, "no server is wrapped twice")
			back, note, err := l.Uninstall()
			require.NoError(t, err)
			assert.Equal(t, names(servers), back)
			assert.Empty(t, note)
			assert.Equal(t, parts["before"], read(t, l.File.Path), "byte for byte")

			require.NoError(t, l.Install(names(servers)))
			require.NoError(t, os.WriteFile(l.File.Path, []byte(strings.ReplaceAll(read(t, l.File.Path), "edit-me", "edited")), 0o600))
			_, _, err = l.Uninstall()
			require.NoError(t, err)
			assertSame(t, l, strings.ReplaceAll(parts["before"], "edit-me", "edited"), read(t, l.File.Path))
		})
	}
}

// assertSame compares two configurations as their client reads them; a list of arguments without elements is none.
func assertSame(t *testing.T, l List, want, got string) {
	t.Helper()
	a, err := l.entries([]byte(want))
	require.NoError(t, err)
	b, err := l.entries([]byte(got))
	require.NoError(t, err)
	for name := range b {
		if args, _ := b[name]["args"].([]any); args != nil && len(args) == 0 && a[name]["args"] == nil {
			delete(b[name], "args")
		}
	}
	assert.Equal(t, a, b)
}

// TestAServerThatWasWrappedByHandComesBackSo: the file gets its bytes back as long as nobody has edited it.
func TestAServerThatWasWrappedByHandComesBackSo(t *testing.T) {
	text := `{"mcpServers": {"a": {"command": "mcp-pruner", "args": ["gateway", "--wrap", "--prune-over", "5", "--", "x"]}, "b": {"command": "y"}}}`
	l := list(t, "claude", text)
	require.NoError(t, l.Install([]string{"b"}))
	_, _, err := l.Uninstall()
	require.NoError(t, err)
	assert.Equal(t, text, read(t, l.File.Path))
}

// TestAnotherProgramsEntryIsNotOurs: one with the same words stays, whatever takes ours out.
func TestAnotherProgramsEntryIsNotOurs(t *testing.T) {
	text := `{"mcpServers": {"a": {"command": "/opt/other", "args": ["gateway", "--wrap", "--", "x"]}}}`
	l := list(t, "claude", text)
	back, _, err := l.Uninstall()
	require.NoError(t, err)
	assert.Empty(t, back)
	assert.Equal(t, text, read(t, l.File.Path))
}

// TestARuleOnACommandKeepsItsServer: an administrator's rule that names a command would not match a wrapped server any more.
func TestARuleOnACommandKeepsItsServer(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		wrapped    []string
		stays, err string
	}{
		"no rules":             {"managed-settings.json", `{}`, []string{"a", "b"}, "", ""},
		"a refused command":    {"managed-settings.json", `{"deniedMcpServers": [{"serverCommand": ["npx", "a"]}]}`, []string{"b"}, "refuses its command", ""},
		"allowed commands":     {"managed-settings.json", `{"allowedMcpServers": [{"serverCommand": ["npx", "a"]}]}`, nil, "names the commands that may be started", ""},
		"names alone":          {"managed-settings.json", `{"allowedMcpServers": [{"serverName": "a"}], "deniedMcpServers": [{"serverName": "b"}]}`, []string{"a", "b"}, "", ""},
		"a part of the rules":  {"managed-settings.d/10.json", `{"allowedMcpServers": [{"serverCommand": ["npx", "a"]}]}`, nil, "names the commands that may be started", ""},
		"what cannot be read":  {"managed-settings.json", `{"allowedMcpServers": [`, nil, "", "cannot be read"},
		"what Codex is told":   {"requirements.toml", "[mcp_servers.a.identity]\ncommand = \"npx\"\n", nil, "names the commands that may be started", ""},
		"other words of Codex": {"requirements.toml", "allowed_approval_policies = [\"never\"]\n", []string{"a", "b"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			require.NoError(t, os.MkdirAll(filepath.Join(home, "managed-settings.d"), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(home, c.file), []byte(c.text), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(home, ".claude.json"), []byte(`{"mcpServers": {"a": {"command": "npx", "args": ["a"]}, "b": {"command": "npx", "args": ["b"]}}}`), 0o600))
			lookup := func(name string) (string, bool) { return home, name == "HOME" || name == "USERPROFILE" }
			l, err := Of("claude", program, lookup, []string{filepath.Join(home, "managed-settings.json"), filepath.Join(home, "requirements.toml")})
			require.NoError(t, err)
			servers, stay, err := l.Servers()
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.wrapped, names(servers))
			for _, why := range stay {
				assert.Contains(t, why, c.stays)
			}
		})
	}
}

// TestWhatAnEarlierVersionMovedComesBack: servers that stand in a file of the gateway's own return to their client's.
func TestWhatAnEarlierVersionMovedComesBack(t *testing.T) {
	for client, c := range map[string]struct{ now, kept, want string }{
		"claude": {
			`{"a": 1, "mcpServers": {"gateway": {"command": "/bin/mcp-pruner", "args": ["gateway", "KEPT"]}, "new": {"command": "n"}}}`,
			`{"mcpServers": {"late": {"command": "l"}}, "original": {"files": {"command": "f", "env": {"T": "1"}}, "new": {"command": "old"}}, "text": "x"}`,
			`{"a": 1, "mcpServers": {"new": {"command": "n"}, "files": {"command": "f", "env": {"T": "1"}}}}`,
		},
		"codex": {
			"model = \"m\"\n# mcp-pruner gateway init: begin\n[mcp_servers.gateway]\ncommand = \"/bin/mcp-pruner\"\nargs = [\"gateway\", \"KEPT\"]\n# mcp-pruner gateway init: end\n[x]\n",
			`{"mcpServers": {}, "text": "[mcp_servers.files]\ncommand = \"f\"\n"}`,
			"model = \"m\"\n[mcp_servers.files]\ncommand = \"f\"\n[x]\n",
		},
		"opencode": {
			`{"mcp": {"gateway": {"type": "local", "command": ["/bin/mcp-pruner", "gateway", "KEPT"]}}}`,
			`{"mcpServers": {}, "original": {"files": {"type": "local", "command": ["f"]}}, "text": "x"}`,
			`{"mcp": {"files": {"type": "local", "command": ["f"]}}}`,
		},
	} {
		t.Run(client, func(t *testing.T) {
			kept := filepath.Join(t.TempDir(), "gateway.json")
			require.NoError(t, os.WriteFile(kept, []byte(c.kept), 0o600))
			l := list(t, client, strings.ReplaceAll(c.now, "KEPT", kept))
			names, note, err := l.Uninstall()
			require.NoError(t, err)
			assert.Contains(t, names, "files")
			if client == "codex" {
				assert.Equal(t, c.want, read(t, l.File.Path))
			} else {
				assert.JSONEq(t, c.want, read(t, l.File.Path))
			}
			if client == "claude" { // a server was added there
				assert.Contains(t, note, kept+" stays, because it was edited")
				require.NoError(t, os.Remove(kept))
			}
			assert.NoFileExists(t, kept)

			require.NoError(t, os.WriteFile(l.File.Path, []byte(strings.ReplaceAll(c.now, "KEPT", kept)), 0o600))
			_, _, err = l.Uninstall()
			require.ErrorContains(t, err, "nothing was changed")
			assert.Equal(t, strings.ReplaceAll(c.now, "KEPT", kept), read(t, l.File.Path))
		})
	}
}
