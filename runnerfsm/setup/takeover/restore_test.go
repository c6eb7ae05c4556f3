package takeover

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// restorable are configurations with the servers files and web, by client.
var restorable = map[string]string{"claude": claudeConfig, "codex": codexConfig, "opencode": opencodeConfigText}

// installed returns a takeover whose servers are behind the gateway.
func installed(t *testing.T, client string) Takeover {
	t.Helper()
	o := takeover(t, restorable[client])
	o.Client = client
	_, _, err := o.Install()
	require.NoError(t, err)
	return o
}

func servers(t *testing.T, o Takeover, text string) map[string]any {
	t.Helper()
	entries, err := o.entries([]byte(text))
	require.NoError(t, err)
	return entries
}

// TestUninstallLosesNothing plays each state in which uninstall may find the two files. Where the servers cannot be
// restored, neither the client's file nor its backup changes, and the error says where the servers are.
func TestUninstallLosesNothing(t *testing.T) {
	replace := func(path, old, changed string) {
		text := read(t, path)
		require.Contains(t, text, old)
		require.NoError(t, os.WriteFile(path, []byte(strings.Replace(text, old, changed, 1)), 0o600))
	}
	for name, c := range map[string]struct {
		damage  func(o *Takeover)
		wantErr string // "": the client's file is as it was
		left    string // why the gateway's file stays
	}{
		"another folder for configurations": {damage: func(o *Takeover) { o.Config = filepath.Join(t.TempDir(), "gateway.json") }},
		"the gateway's file was deleted":    {damage: func(o *Takeover) { require.NoError(t, os.Remove(o.Config)) }, wantErr: "no such file"},
		"it is a folder": {wantErr: "is a directory", damage: func(o *Takeover) {
			require.NoError(t, os.Remove(o.Config))
			require.NoError(t, os.Mkdir(o.Config, 0o700))
		}},
		"it is cut off": {wantErr: "unexpected EOF", damage: func(o *Takeover) { require.NoError(t, os.Truncate(o.Config, 40)) }},
		"it is empty":   {wantErr: "EOF", damage: func(o *Takeover) { require.NoError(t, os.Truncate(o.Config, 0)) }},
		"it is another file": {wantErr: "it was not made by gateway init", damage: func(o *Takeover) {
			require.NoError(t, os.WriteFile(o.Config, []byte(`{"mcpServers": {"a": {"command": "b"}}}`), 0o600))
		}},
		"a server was added in it": {left: "late was edited there", damage: func(o *Takeover) {
			replace(o.Config, `"mcpServers": {`, `"mcpServers": {"late": {"command": "late"},`)
		}},
		"a server was changed in it": {left: "web was edited there", damage: func(o *Takeover) {
			replace(o.Config, `"url": "https://h/mcp"`, `"url": "https://other/mcp"`)
		}},
		"the backup is missing": {damage: func(o *Takeover) { require.NoError(t, os.Remove(o.File+".mcp-pruner-backup")) }},
		"the file has other owners": {left: "it has the servers of /elsewhere", damage: func(o *Takeover) {
			replace(o.Config, `"movedFrom": "`+o.File+`"`, `"movedFrom": "/elsewhere"`)
		}},
		"an earlier version made it": {left: "an earlier version made it", damage: func(o *Takeover) {
			replace(o.Config, `"movedFrom": "`+o.File+`"`, `"movedFrom": ""`)
		}},
	} {
		for client, text := range restorable {
			t.Run(client+", "+name, func(t *testing.T) {
				o := installed(t, client)
				config, after := o.Config, read(t, o.File)
				c.damage(&o)
				done, err := o.Uninstall()
				if c.wantErr != "" {
					require.ErrorContains(t, err, c.wantErr)
					assert.ErrorContains(t, err, o.File+".mcp-pruner-backup is the client's file before it was changed")
					assert.Equal(t, after, read(t, o.File))
					assert.Equal(t, text, read(t, o.File+".mcp-pruner-backup"))
					return
				}
				require.NoError(t, err)
				assert.True(t, done.Changed)
				if client == "codex" && name == "the backup is missing" { // the tables come back, at another place
					assert.Equal(t, servers(t, o, text), servers(t, o, read(t, o.File)))
				} else {
					assert.Equal(t, text, read(t, o.File), "byte for byte")
				}
				assert.NoFileExists(t, o.File+".mcp-pruner-backup")
				if c.left == "" {
					assert.Empty(t, done.Left)
					assert.NoFileExists(t, config)
					return
				}
				assert.Contains(t, done.Left, config+" stays: "+c.left)
				assert.FileExists(t, config)
			})
		}
	}
}

// TestAnInterruptedRunLosesNothing ends install and uninstall after each of their steps and runs uninstall.
func TestAnInterruptedRunLosesNothing(t *testing.T) {
	for client, text := range restorable {
		o := installed(t, client)
		require.NoError(t, os.WriteFile(o.File, []byte(text), 0o600)) // the gateway's file was written, the client's not yet; or the reverse
		done, err := o.Uninstall()
		require.NoError(t, err)
		assert.Equal(t, Restored{}, done)
		assert.Equal(t, text, read(t, o.File))
		assert.NoFileExists(t, o.Config, "what both files have is a leftover")

		o = installed(t, client)
		require.NoError(t, os.WriteFile(o.File, []byte(text), 0o600))
		config := o.Config
		_, _, err = o.Install()
		require.NoError(t, err)
		assert.Equal(t, config, o.Config, "the leftover is used again")

		o = installed(t, client)
		require.NoError(t, os.WriteFile(o.File, nil, 0o600)) // the user emptied the file
		done, err = o.Uninstall()
		require.NoError(t, err)
		assert.Contains(t, done.Left, "it has servers that were moved from there (files, ")
		assert.FileExists(t, o.Config)
		assert.FileExists(t, o.File+".mcp-pruner-backup")
		require.NoError(t, os.Remove(o.File))
		_, err = o.Uninstall()
		assert.EqualError(t, err, "the file is gone; "+o.Config+" has its servers")
		require.NoError(t, os.Remove(o.Config))
		_, err = o.Uninstall()
		assert.EqualError(t, err, "the file is gone; "+o.File+".mcp-pruner-backup is its content before it was changed")
	}
}

// TestTwoFilesShareNoGateway checks that the servers of a second file of one client, as CLAUDE_CONFIG_DIR selects it, do
// not go into the first one's gateway.
func TestTwoFilesShareNoGateway(t *testing.T) {
	for client, text := range restorable {
		one := installed(t, client)
		two := takeover(t, strings.ReplaceAll(text, "files-server", "other-server"))
		two.Client, two.Config = client, one.Config
		_, _, err := two.Install()
		require.NoError(t, err)
		assert.Equal(t, strings.TrimSuffix(one.Config, ".json")+"-2.json", two.Config)
		assert.Contains(t, read(t, two.File), two.Config)
		assert.NotContains(t, read(t, one.Config), "other-server")
		two.Config = one.Config // a new run knows only the usual path
		for _, o := range []Takeover{two, one} {
			_, err := o.Uninstall()
			require.NoError(t, err)
		}
		assert.Equal(t, text, read(t, one.File))
		assert.Contains(t, read(t, two.File), "other-server")
	}
}

// TestAServerWithTwoDefinitionsKeepsTheNewOne moves a server, adds another of the same name, and moves that, too.
func TestAServerWithTwoDefinitionsKeepsTheNewOne(t *testing.T) {
	added := map[string]func(string) string{
		"claude": func(s string) string {
			return strings.Replace(s, `"mcpServers": {`, `"mcpServers": {"files": {"command": "new"},`, 1)
		},
		"opencode": func(s string) string {
			return strings.Replace(s, `"mcp": {`, `"mcp": {"files": {"type": "local", "command": ["new"]},`, 1)
		},
		"codex": func(s string) string { return "[mcp_servers.files]\ncommand = \"new\"\n" + s },
	}
	for client := range restorable {
		for _, moved := range []bool{false, true} {
			o := installed(t, client)
			text := read(t, o.File)
			if client == "codex" { // the new table stands before the other tables
				_, text, _ = strings.Cut(text, "\n")
			}
			require.NoError(t, os.WriteFile(o.File, []byte(added[client](text)), 0o600))
			if moved {
				_, _, err := o.Install()
				require.NoError(t, err)
			}
			done, err := o.Uninstall()
			require.NoError(t, err)
			back := read(t, o.File)
			for _, there := range []string{`"new"`, "https://h/mcp"} {
				assert.Contains(t, back, there)
			}
			assert.NotContains(t, back, "files-server")
			if !moved {
				assert.Contains(t, done.Left, "the client's file has another files")
			}
			_, err = o.entries([]byte(back))
			assert.NoError(t, err, back)
		}
	}
}

// TestAnEntryThatInitDidNotMakeIsLeftAlone checks an entry of our name that serves a file made by hand.
func TestAnEntryThatInitDidNotMakeIsLeftAlone(t *testing.T) {
	own := filepath.Join(t.TempDir(), "servers.json")
	require.NoError(t, os.WriteFile(own, []byte(`{"mcpServers": {"a": {"command": "b"}}}`), 0o600))
	for _, args := range []string{`["gateway", "` + own + `"]`, `["gateway", "servers.json"]`, `[]`} {
		text := `{"mcpServers": {"gateway": {"command": "mcp-pruner", "args": ` + args + `}, "files": {"command": "x"}}}`
		o := takeover(t, text)
		_, _, err := o.Install()
		assert.Error(t, err, args)
		done, _ := o.Uninstall()
		assert.Equal(t, Restored{}, done)
		assert.Equal(t, text, read(t, o.File))
		assert.NoFileExists(t, o.Config)
	}
}
