package runcmd_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recorder is a client that records its command lines.
const recorder = `printf '%s\n' "$*" >>"$WORK/calls"; echo "done that"`

// fresh is a home directory with two such clients.
type fresh struct {
	place
	t *testing.T
}

func newFresh(t *testing.T) fresh {
	p := newPlace(t, map[string]string{"claude": recorder, "codex": recorder})
	p.env = append(p.env, "JEEVES_MCP_PRUNER_PATH=/bin/true", "HOME="+p.dir)
	return fresh{p, t}
}

// calls returns the recorded command lines.
func (f fresh) calls() []string {
	f.t.Helper()
	text, err := os.ReadFile(filepath.Join(f.dir, "calls"))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(f.t, err)
	require.NoError(f.t, os.Remove(filepath.Join(f.dir, "calls")))
	return lines(string(text))
}

func (f fresh) write(name, text string) {
	f.t.Helper()
	path := filepath.Join(f.dir, name)
	require.NoError(f.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(f.t, os.WriteFile(path, []byte(text), 0o600))
}

const ourEntry = `{"type":"stdio","command":"/bin/true","args":[],"env":{"PRUNER_URL":"embedded"}}`

func TestInstall(t *testing.T) {
	f := newFresh(t)
	code, stdout, stderr := call(t, "install", f.env, "claude", "--scope", "user")
	require.Zero(t, code, stderr)
	assert.Equal(t, []string{`mcp add-json --scope user pruner {"command":"/bin/true","args":[],"env":{"PRUNER_URL":"embedded"}}`}, f.calls(),
		"it prunes by itself, and serves where the client works")
	assert.Contains(t, stdout, "running: claude mcp add-json --scope user pruner '{")
	assert.Contains(t, stdout, "done that\n")
	assert.Contains(t, stdout, "mcp-pruner install claude --uninstall")
	assert.Contains(t, stdout, "mcp-pruner init claude --hooks\n")

	code, _, _ = call(t, "install", f.env, "codex")
	require.Zero(t, code)
	assert.Equal(t, []string{"mcp add --env PRUNER_URL=embedded pruner -- /bin/true"}, f.calls())

	code, stdout, _ = call(t, "install", append(f.env, "PRUNER_URL=http://user:pass@127.0.0.1:1/prune"), "codex")
	require.Zero(t, code)
	assert.Equal(t, []string{"mcp add --env PRUNER_URL=http://user:pass@127.0.0.1:1/prune pruner -- /bin/true"}, f.calls())
	assert.NotContains(t, stdout, "pass@")
}

// TestWorthIsWhatTheBillSays holds the sentences that install prints against the tables of docs/BILL.md: how many sessions lose
// beside a client's tools, and what is saved without these, on Claude Code's sessions.
func TestWorthIsWhatTheBillSays(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/BILL.md")
	require.NoError(t, err)
	numbers := func(row string) (found []float64) {
		for _, m := range regexp.MustCompile(row).FindAllStringSubmatch(string(page), -1) {
			n, err := strconv.ParseFloat(m[1], 64)
			require.NoError(t, err)
			found = append(found, n)
		}
		return found
	}
	lose := numbers(`(?m)^\| mcp \| [-+\d.].* \| (\d+) % \|$`)
	require.NotEmpty(t, lose)
	most := 0
	for _, n := range lose {
		if n > 50 {
			most++
		}
	}
	assert.Greater(t, most, len(lose)/2, "most sessions lose")
	only := numbers(`(?m)^\| claude-code \| the only tools \| reads and searches \| [\d.]+ \| [\d.]+ \| 0\.0 \| \+?(-?[\d.]+) `)
	require.Len(t, only, 1)
	assert.Positive(t, only[0])
}

// TestShownCommandIsTheOneThatRuns checks that the printed command is the one that runs, except for a password: an "@" in
// a path, as in npm's folders, is none.
func TestShownCommandIsTheOneThatRuns(t *testing.T) {
	f := newFresh(t)
	f.write("node:modules/@scope/pkg/mcp-pruner", "#!/bin/sh\n")
	path := filepath.Join(f.dir, "node:modules/@scope/pkg/mcp-pruner")
	require.NoError(t, os.Chmod(path, 0o755))
	env := append(f.env, "JEEVES_MCP_PRUNER_PATH="+path, "PRUNER_URL=http://user:pass@127.0.0.1:1/prune", "MCP_PRUNER_TRACE="+filepath.Join(f.dir, "a:b", "@c", "t.jsonl"))
	for _, client := range []string{"claude", "codex"} {
		code, stdout, stderr := call(t, "install", env, client)
		require.Zero(t, code, stderr)
		shown := strings.ReplaceAll(strings.TrimPrefix(lines(stdout)[0], "running: "+client+" "), "'", "")
		ran := f.calls()[0]
		assert.Contains(t, ran, "http://user:pass@127.0.0.1:1/prune")
		assert.Contains(t, ran, path)
		assert.Equal(t, strings.ReplaceAll(ran, "user:pass@", "xxxxx@"), shown)
	}
}

// TestInstallTwice checks that a current entry is left alone and an older one is replaced.
func TestInstallTwice(t *testing.T) {
	f := newFresh(t)
	f.write(".claude.json", `{"mcpServers":{"pruner":`+ourEntry+`}}`)
	f.write(".codex/config.toml", "[mcp_servers.pruner]\ncommand = \"/bin/true\"\n[mcp_servers.pruner.env]\nPRUNER_URL = \"embedded\"\n")
	for client, options := range map[string][]string{"claude": {"--scope=user"}, "codex": nil} {
		code, stdout, stderr := call(t, "install", f.env, append([]string{client}, options...)...)
		assert.Zero(t, code, stderr)
		assert.Contains(t, stdout, client+": the server is there already, in "+f.dir)
		assert.Empty(t, f.calls())
	}
	code, _, stderr := call(t, "install", append(f.env, "PRUNER_URL="), "claude", "-s", "user")
	require.Zero(t, code, stderr)
	assert.Equal(t, []string{"mcp remove --scope user pruner",
		`mcp add-json -s user pruner {"command":"/bin/true","args":[],"env":{"PRUNER_URL":""}}`}, f.calls())
}

// TestInstallLeavesOthers checks that an entry of the same name that starts another program is not touched.
func TestInstallLeavesOthers(t *testing.T) {
	f := newFresh(t)
	f.write(".codex/config.toml", "[mcp_servers.pruner]\ncommand = \"/opt/garden-tools\"\n")
	code, _, stderr := call(t, "install", f.env, "codex")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "codex has another server named pruner")
	code, stdout, _ := call(t, "install", f.env, "codex", "--uninstall")
	assert.Zero(t, code)
	assert.Contains(t, stdout, "is another server and stays")
	assert.Empty(t, f.calls())

	f.write(".codex/config.toml", "[mcp_servers")
	code, _, stderr = call(t, "install", f.env, "codex")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "config.toml: cannot be read by Codex: line 1: ")
}

func TestUninstall(t *testing.T) {
	f := newFresh(t)
	f.write(".claude.json", `{"mcpServers":{"pruner":`+ourEntry+`},"projects":{"`+mustGetwd(t)+`":{"mcpServers":{"pruner":`+ourEntry+`}}}}`)
	code, stdout, stderr := call(t, "install", f.env, "claude", "--show")
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "claude: pruner in "+filepath.Join(f.dir, ".claude.json")+" (user): /bin/true\n  PRUNER_URL=embedded\n")
	assert.Contains(t, stdout, "(local)")
	assert.Empty(t, f.calls())

	code, _, stderr = call(t, "install", f.env, "claude", "--uninstall")
	require.Zero(t, code, stderr)
	assert.ElementsMatch(t, []string{"mcp remove --scope local pruner", "mcp remove --scope user pruner"}, f.calls())
	code, _, _ = call(t, "install", f.env, "claude", "--uninstall", "--scope", "user")
	require.Zero(t, code)
	assert.Equal(t, []string{"mcp remove --scope user pruner"}, f.calls())

	code, stdout, _ = call(t, "install", f.env, "codex", "--uninstall")
	assert.Zero(t, code)
	assert.Contains(t, stdout, "codex: there is nothing to take out")
	_, stdout, _ = call(t, "install", f.env, "codex", "--show")
	assert.Contains(t, stdout, `there is no entry; "mcp-pruner install codex" adds one`)
	code, _, stderr = call(t, "install", f.env, "codex", "--show", "--uninstall")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "--show or --uninstall, not both")
}

func TestInstallFails(t *testing.T) {
	p := newPlace(t, map[string]string{"claude": "echo 'it does not like it' >&2; exit 1"})
	env := append(p.env, "JEEVES_MCP_PRUNER_PATH=/bin/true")
	code, _, stderr := call(t, "install", env, "claude")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "HOME is not set, so the configuration of the client cannot be found")
	code, _, stderr = call(t, "install", append(env, "HOME="+p.dir, "CLAUDE_CONFIG_DIR=.claude"), "claude")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, `CLAUDE_CONFIG_DIR is ".claude", so the configuration of the client cannot be found`)
	env = append(env, "HOME="+p.dir)
	code, _, stderr = call(t, "install", env, "claude")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "it does not like it\nmcp-pruner: claude did not add the server")
	code, _, stderr = call(t, "install", []string{"PATH=" + p.dir, "HOME=" + p.dir, "JEEVES_MCP_PRUNER_PATH=/bin/true"}, "codex")
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "codex did not add the server: codex is not on PATH")
	code, _, stderr = call(t, "install", env, "emacs")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "name the client first")
}

// TestInstallFromNpx checks the entry for a program in npx's cache, which npx may empty.
func TestInstallFromNpx(t *testing.T) {
	f := newFresh(t)
	f.write(".npm/_npx/1/node_modules/.bin/mcp-pruner", "#!/bin/sh\n")
	path := filepath.Join(f.dir, ".npm/_npx/1/node_modules/.bin/mcp-pruner")
	require.NoError(t, os.Chmod(path, 0o755))
	code, _, stderr := call(t, "install", append(f.env, "JEEVES_MCP_PRUNER_PATH="+path), "codex")
	require.Zero(t, code, stderr)
	assert.Equal(t, []string{"mcp add --env PRUNER_URL=embedded pruner -- npx -y mcp-pruner"}, f.calls())
}
