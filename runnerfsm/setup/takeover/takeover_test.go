package takeover

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/upstream"

	"github.com/mcp-pruner/mcp-pruner/tools/upstream/connect"
)

const claudeConfig = `{
  "numStartups": 3,
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
	moved, _, err := o.Install()
	require.NoError(t, err)
	assert.Equal(t, []string{"files", "web"}, moved)
	after := read(t, o.File)
	assert.NotContains(t, after, "s3cret")
	for _, stays := range []string{`"numStartups": 3,`, `"old"`, `"pruner"`, `"gateway"`, o.Config} {
		assert.Contains(t, after, stays)
	}
	servers, err := connect.ReadConfig([]byte(read(t, o.Config)), func(string) (string, bool) { return "", false })
	require.NoError(t, err)
	assert.Len(t, servers, 2)

	moved, _, err = o.Install()
	require.NoError(t, err)
	assert.Empty(t, moved, "the second time changes nothing")
	assert.Equal(t, after, read(t, o.File))

	done, err := o.Uninstall()
	require.NoError(t, err)
	assert.Equal(t, Restored{Changed: true}, done)
	assert.Equal(t, claudeConfig, read(t, o.File), "byte for byte")
	assert.NoFileExists(t, o.Config)
}

func TestServersGoBackIntoAFileThatChangedSince(t *testing.T) {
	o := takeover(t, claudeConfig)
	_, _, err := o.Install()
	require.NoError(t, err)
	changed := strings.Replace(read(t, o.File), `"numStartups": 3`, `"numStartups": 4`, 1)
	require.NoError(t, os.WriteFile(o.File, []byte(changed), 0o600))
	_, err = o.Uninstall()
	require.NoError(t, err)
	back := read(t, o.File)
	for _, there := range []string{`"numStartups": 4,`, `"s3cret"`, `"web"`, `"old"`, `"pruner"`} {
		assert.Contains(t, back, there)
	}
	assert.NotContains(t, back, `"gateway"`)
	_, was, _ := strings.Cut(claudeConfig, `"mcpServers"`)
	assert.Contains(t, back, was, "the servers are written as they were")
}

const codexConfig = `model = "gpt-5" # mine

# files of the house
[mcp_servers.files]
command = "files-server"
args = ["/x"]
env_vars = ["FILES_TOKEN"]

[mcp_servers.files.env]
MODE = "ro" # careful

[mcp_servers.web]
url = "https://h/mcp"
bearer_token_env_var = "WEB_TOKEN"

[features]
plugins = false # also mine
`

const opencodeConfigText = `{
  // opencode
  "mcp": {
    "files": {"type": "local", "command": ["files-server", "/x"], "environment": {"TOKEN": "s3cret"}}, // files
    "web": {"type": "remote", "url": "https://h/mcp", "headers": {"A": "b"}},
    "off": {"type": "local", "command": ["off"], "enabled": false}
  },
  "theme": "x"
}
`

func TestEveryClientGoesBehindTheGatewayAndBack(t *testing.T) {
	for client, text := range map[string]string{"codex": codexConfig, "opencode": opencodeConfigText} {
		o := takeover(t, text)
		o.Client = client
		moved, _, err := o.Install()
		require.NoError(t, err)
		assert.Subset(t, moved, []string{"files", "web"}, client)
		after := read(t, o.File)
		assert.NotContains(t, after, "files-server")
		servers, err := connect.ReadConfig([]byte(read(t, o.Config)), func(name string) (string, bool) { return "value-of-" + name, strings.HasSuffix(name, "_TOKEN") })
		require.NoError(t, err)
		require.Len(t, servers, 2)
		for _, s := range servers {
			if s.Name == "files" {
				assert.Equal(t, "files-server", s.Command)
				assert.Equal(t, []string{"/x"}, s.Args)
			}
		}
		again, _, err := o.Install()
		require.NoError(t, err)
		assert.Empty(t, again, client)
		assert.Equal(t, after, read(t, o.File))

		require.NoError(t, os.WriteFile(o.File, []byte(strings.Replace(after, "mine", "still mine", 1)), 0o600))
		_, err = o.Uninstall()
		require.NoError(t, err)
		back := read(t, o.File)
		assert.Contains(t, back, "files-server", client)
		assert.NotContains(t, back, entryName+"]")
		assert.NotContains(t, back, `"`+entryName+`"`)

		require.NoError(t, os.WriteFile(o.File, []byte(text), 0o600))
		_, _, err = o.Install()
		require.NoError(t, err)
		_, err = o.Uninstall()
		require.NoError(t, err)
		assert.Equal(t, text, read(t, o.File), "byte for byte")
	}
}

func TestCodexHandsOnWhatItsServersNeed(t *testing.T) {
	o := takeover(t, codexConfig)
	o.Client = "codex"
	_, _, err := o.Install()
	require.NoError(t, err)
	after := read(t, o.File)
	assert.Contains(t, after, `env_vars = ["FILES_TOKEN", "WEB_TOKEN"]`)
	assert.Contains(t, after, "model = \"gpt-5\" # mine\n\n[features]\nplugins = false # also mine\n# mcp-pruner gateway init: begin\n[mcp_servers.gateway]")
	servers, err := connect.ReadConfig([]byte(read(t, o.Config)), func(name string) (string, bool) { return "T", name == "WEB_TOKEN" })
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"FILES_TOKEN": "", "MODE": "ro"}, servers[0].Env)
	assert.Equal(t, map[string]string{"Authorization": "Bearer T"}, servers[1].Headers)
}

// TestAServerAddedLaterJoinsTheOthers checks that servers moved earlier stay in the gateway's
// configuration.
func TestAServerAddedLaterJoinsTheOthers(t *testing.T) {
	o := takeover(t, claudeConfig)
	_, _, err := o.Install()
	require.NoError(t, err)
	more := strings.Replace(read(t, o.File), `"mcpServers": {`, `"mcpServers": {"late": {"command": "late-server"},`, 1)
	require.NoError(t, os.WriteFile(o.File, []byte(more), 0o600))
	moved, _, err := o.Install()
	require.NoError(t, err)
	assert.Equal(t, []string{"late"}, moved)
	servers, err := connect.ReadConfig([]byte(read(t, o.Config)), func(string) (string, bool) { return "", false })
	require.NoError(t, err)
	assert.Len(t, servers, 3)
	_, err = o.Uninstall()
	require.NoError(t, err)
	back := read(t, o.File)
	for _, there := range []string{"late-server", "files-server", "https://h/mcp"} {
		assert.Contains(t, back, there)
	}
}

func TestAForeignEntryOfOurNameIsLeftAlone(t *testing.T) {
	o := takeover(t, `{"mcpServers": {"gateway": {"command": "other"}, "a": {"command": "b"}}}`)
	_, _, err := o.Install()
	assert.EqualError(t, err, "mcpServers.gateway is there and not ours; rename it first")
	assert.NoFileExists(t, o.Config)
}

// TestNoRuleIsEscaped checks that a server stays with its client if moving it would allow what
// the client's configuration forbids or asks for, and that the reason is said.
func TestNoRuleIsEscaped(t *testing.T) {
	for _, c := range []struct{ client, name, text, settings, stays, why string }{
		{client: "gemini", name: "tools left out", stays: "files", why: "excludeTools restricts its tools",
			text: `{"mcpServers": {"files": {"command": "x", "excludeTools": ["rm"]}, "web": {"httpUrl": "https://h/mcp", "trust": true}}}`},
		{client: "gemini", name: "tools let in", stays: "files", why: "includeTools restricts its tools",
			text: `{"mcpServers": {"files": {"command": "x", "includeTools": ["ls"]}, "web": {"httpUrl": "https://h/mcp"}}}`},
		{client: "gemini", name: "server left out", stays: "files", why: "the rule files restricts it",
			text: `{"mcp": {"excluded": ["files"]}, "mcpServers": {"files": {"command": "x"}, "web": {"httpUrl": "https://h/mcp"}}}`},
		{client: "claude", name: "a denied tool", stays: "files", why: "the rule mcp__files__rm restricts it",
			text:     `{"mcpServers": {"files": {"command": "x"}, "web": {"type": "http", "url": "https://h/mcp"}}}`,
			settings: `{"permissions": {"deny": ["mcp__files__rm"], "allow": ["mcp__web"]}}`},
		{client: "claude", name: "a denied server", stays: "files", why: "the rule files restricts it",
			text:     `{"mcpServers": {"files": {"command": "x"}, "web": {"type": "http", "url": "https://h/mcp"}}}`,
			settings: `{"deniedMcpServers": [{"serverName": "files"}]}`},
		{client: "claude", name: "off in a project", stays: "files", why: "the rule files restricts it",
			text: `{"projects": {"/p": {"disabledMcpServers": ["files"]}}, "mcpServers": {"files": {"command": "x"}, "web": {"type": "http", "url": "https://h/mcp"}}}`},
		{client: "codex", name: "tools left out", stays: "files", why: "disabled_tools restricts its tools",
			text: "[mcp_servers.files]\ncommand = \"x\"\ndisabled_tools = [\"rm\"]\n\n[mcp_servers.web]\nurl = \"https://h/mcp\"\n"},
		{client: "codex", name: "asks before each call", stays: "files", why: "default_tools_approval_mode restricts its tools",
			text: "[mcp_servers.files]\ncommand = \"x\"\ndefault_tools_approval_mode = \"prompt\"\n\n[mcp_servers.web]\nurl = \"https://h/mcp\"\n"},
		{client: "opencode", name: "a tool switched off", stays: "files", why: "the rule files_rm restricts it",
			text: `{"tools": {"files_rm": false, "web_get": true}, "mcp": {"files": {"type": "local", "command": ["x"]}, "web": {"type": "remote", "url": "https://h/mcp"}}}`},
		{client: "opencode", name: "a pattern", stays: "files", why: "the rule f*_rm restricts it",
			text: `{"permission": {"f*_rm": "deny", "*": "ask"}, "mcp": {"files": {"type": "local", "command": ["x"]}, "web": {"type": "remote", "url": "https://h/mcp"}}}`},
		{client: "cursor", name: "a denied tool", stays: "files", why: "the rule Mcp(files:rm) restricts it",
			text: `{"mcpServers": {"files": {"command": "x"}, "web": {"url": "https://h/mcp"}}}`, settings: `{"permissions": {"deny": ["Shell(rm)", "Mcp(files:rm)"]}}`},
		{client: "opencode", name: "an agent that asks", stays: "files", why: "the rule files_* restricts it",
			text: `{"agent": {"plan": {"permission": {"files_*": "ask"}}}, "mcp": {"files": {"type": "local", "command": ["x"]}, "web": {"type": "remote", "url": "https://h/mcp"}}}`},
	} {
		t.Run(c.client+" "+c.name, func(t *testing.T) {
			o := takeover(t, c.text)
			o.Client = c.client
			if c.settings != "" {
				o.Rules = []string{filepath.Join(t.TempDir(), "settings.json")}
				require.NoError(t, os.WriteFile(o.Rules[0], []byte(c.settings), 0o600))
			}
			moved, stay, err := o.Install()
			require.NoError(t, err)
			assert.Equal(t, []string{"web"}, moved)
			assert.Equal(t, map[string]string{c.stays: c.why}, stay)
			if strings.Contains(c.settings, `"allow"`) {
				assert.Equal(t, []Rewrite{{"mcp__web", "mcp__gateway__web_*"}}, o.Stale)
			}
			assert.Contains(t, read(t, o.File), "files")
			assert.NotContains(t, read(t, o.File), `"trust"`, "the gateway is not trusted")
			_, err = o.Uninstall()
			require.NoError(t, err)
			assert.Equal(t, c.text, read(t, o.File), "byte for byte")
		})
	}
	t.Run("claude, a tool denied in a project", func(t *testing.T) {
		project := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(project, ".claude"), 0o700))
		settings := filepath.Join(project, ".claude", "settings.local.json")
		require.NoError(t, os.WriteFile(settings, []byte(`{"permissions": {"ask": ["mcp__files"]}}`), 0o600))
		text, err := json.Marshal(map[string]any{
			"projects":   map[string]any{project: map[string]any{}, filepath.Join(project, "gone"): map[string]any{}, settings: map[string]any{}},
			"mcpServers": map[string]any{"files": map[string]any{"command": "x"}, "web": map[string]any{"command": "y"}},
		})
		require.NoError(t, err)
		o := takeover(t, string(text))
		moved, stay, err := o.Install()
		require.NoError(t, err)
		assert.Equal(t, []string{"web"}, moved)
		assert.Equal(t, map[string]string{"files": "the rule mcp__files restricts it"}, stay)

		require.NoError(t, os.WriteFile(settings, []byte(`{`), 0o600))
		o = takeover(t, string(text))
		_, _, err = o.Install()
		assert.ErrorContains(t, err, settings, "rules that cannot be read may restrict anything")
		assert.Equal(t, string(text), read(t, o.File))
	})
	for _, c := range []struct{ client, text, settings, want string }{
		{"gemini", `{"mcp": {"allowed": ["files"]}, "mcpServers": {"files": {"command": "x"}}}`, `{}`,
			"mcp.allowed names the servers that may be used; move them by hand (docs/GATEWAY.md)"},
		{"claude", `{"mcpServers": {"files": {"command": "x"}}}`, `{"allowedMcpServers": [{"serverName": "files"}]}`,
			"settings.json: allowedMcpServers names the servers that may be used; move them by hand (docs/GATEWAY.md)"},
		{"claude", `{"mcpServers": {"files": {"command": "x"}}}`, `{"deniedMcpServers": [{"serverName": "a"}, {"serverCommand": ["x"]}]}`,
			"settings.json: deniedMcpServers names servers by their command or address; move servers by hand (docs/GATEWAY.md)"},
	} {
		o := takeover(t, c.text)
		o.Client, o.Rules = c.client, []string{filepath.Join(t.TempDir(), "settings.json")}
		require.NoError(t, os.WriteFile(o.Rules[0], []byte(c.settings), 0o600))
		_, _, err := o.Install()
		require.Error(t, err)
		assert.True(t, strings.HasSuffix(err.Error(), c.want), err)
		assert.Equal(t, c.text, read(t, o.File))
	}
}

// TestARuleThatOnlyAllowsIsWrittenAnew checks what a user is told to write, that a rule for everything is not named, and that
// Plan says what Install does and changes nothing.
func TestARuleThatOnlyAllowsIsWrittenAnew(t *testing.T) {
	settings := filepath.Join(t.TempDir(), "settings.json")
	require.NoError(t, os.WriteFile(settings, []byte(`{"permissions": {"allow": ["mcp__My_Shop", "mcp__My_Shop__list items", "mcp__web__get_*", "mcp__*", "Bash(ls)", "mcp__web__get_*"]}}`), 0o600))
	const text = `{"mcpServers": {"My Shop": {"command": "x"}, "web": {"command": "y"}}}`
	o := takeover(t, text)
	o.Rules = []string{settings}
	planned, stay, err := o.Plan()
	require.NoError(t, err)
	assert.Empty(t, stay)
	assert.Equal(t, text, read(t, o.File))
	assert.NoFileExists(t, o.Config)
	want := []Rewrite{
		{"mcp__My_Shop", "mcp__gateway__my-shop_*"},
		{"mcp__My_Shop__list items", "mcp__gateway__" + upstream.ExposedName("My Shop", "list items")},
		{"mcp__web__get_*", "mcp__gateway__web_get_*"},
	}
	assert.Equal(t, want, o.Stale)
	moved, _, err := o.Install()
	require.NoError(t, err)
	assert.Equal(t, planned, moved)
	assert.Equal(t, want, o.Stale)

	cursor := takeover(t, `{"mcpServers": {"web": {"command": "y"}}}`)
	cursor.Client, cursor.Rules = "cursor", []string{settings}
	require.NoError(t, os.WriteFile(settings, []byte(`{"permissions": {"allow": ["Mcp(web:get)"]}}`), 0o600))
	_, _, err = cursor.Plan()
	require.NoError(t, err)
	assert.Equal(t, []Rewrite{{"Mcp(web:get)", ""}}, cursor.Stale, "its tools are grouped")
}
