package inject_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"
)

func TestEnabled(t *testing.T) {
	for value, want := range map[string]bool{
		"1": true, "true": true, "yes": true, "on": true, "TRUE": true, " on ": true,
		"": false, "0": false, "false": false, "no": false, "off": false, "2": false, "enabled": false,
	} {
		assert.Equal(t, want, inject.Settings{Env: []string{"JEEVES_PRUNER_ENABLED=" + value}}.Enabled(), "%q", value)
	}
	assert.False(t, inject.Settings{}.Enabled(), "unset")
}

// files makes a directory of executables and plain files ("name-" is not
// executable) and returns it.
func files(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		plain, cut := strings.CutSuffix(name, "-")
		mode := os.FileMode(0o755)
		if cut {
			mode = 0o644
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, plain), nil, mode))
	}
	return dir
}

func TestServers(t *testing.T) {
	beside, onPath := files(t, "mcp-pruner"), files(t, "mcp-pruner")
	given := files(t, "tool", "server.js-", "server.mjs", "server.cjs-", "text-")
	require.NoError(t, os.Mkdir(filepath.Join(given, "folder"), 0o755))
	const defaultURL = "http://localhost:8000/prune"
	cases := []struct {
		name    string
		env     []string
		beside  string
		command string
		args    []string
		url     string
		err     string
	}{
		{name: "beside the runner", beside: beside, env: []string{"PATH=" + onPath}, command: beside + "/mcp-pruner", url: defaultURL},
		{name: "on PATH", beside: given, env: []string{"PATH=rel:" + given + ":" + onPath}, command: onPath + "/mcp-pruner", url: defaultURL},
		{name: "nowhere", beside: given, env: []string{"PATH=" + given}, err: "neither beside the runner"},
		{name: "given", env: []string{"JEEVES_MCP_PRUNER_PATH=" + given + "/tool"}, command: given + "/tool", url: defaultURL},
		{name: "given relative to the run", env: []string{"JEEVES_MCP_PRUNER_PATH=tool"}, command: given + "/tool", url: defaultURL},
		{name: "given empty is unset", beside: beside, env: []string{"JEEVES_MCP_PRUNER_PATH="}, command: beside + "/mcp-pruner", url: defaultURL},
		{name: "js", env: []string{"JEEVES_MCP_PRUNER_PATH=" + given + "/server.js"}, command: "node", args: []string{given + "/server.js"}, url: defaultURL},
		{name: "mjs", env: []string{"JEEVES_MCP_PRUNER_PATH=" + given + "/server.mjs"}, command: "node", args: []string{given + "/server.mjs"}, url: defaultURL},
		{name: "cjs", env: []string{"JEEVES_MCP_PRUNER_PATH=" + given + "/server.cjs"}, command: "node", args: []string{given + "/server.cjs"}, url: defaultURL},
		{name: "missing", env: []string{"JEEVES_MCP_PRUNER_PATH=" + given + "/no"}, err: `JEEVES_MCP_PRUNER_PATH="` + given + `/no": no such file`},
		{name: "a directory", env: []string{"JEEVES_MCP_PRUNER_PATH=" + given + "/folder"}, err: "not a file"},
		{name: "not executable", env: []string{"JEEVES_MCP_PRUNER_PATH=" + given + "/text"}, err: "neither executable nor"},
		{name: "url", beside: beside, env: []string{"JEEVES_PRUNER_URL=https://p.test/x?y=1"}, command: beside + "/mcp-pruner", url: "https://p.test/x?y=1"},
		{name: "url empty turns pruning off", beside: beside, env: []string{"JEEVES_PRUNER_URL="}, command: beside + "/mcp-pruner", url: ""},
		{name: "url embedded", beside: beside, env: []string{"JEEVES_PRUNER_URL=embedded"}, command: beside + "/mcp-pruner", url: "embedded"},
		{name: "the last of two counts", beside: beside, env: []string{"JEEVES_PRUNER_URL=:", "JEEVES_PRUNER_URL="}, command: beside + "/mcp-pruner", url: ""},
		{name: "url of another kind", beside: beside, env: []string{"JEEVES_PRUNER_URL=ftp://p.test/"}, err: "JEEVES_PRUNER_URL"},
		{name: "url relative", beside: beside, env: []string{"JEEVES_PRUNER_URL=/prune"}, err: "JEEVES_PRUNER_URL"},
		{name: "url without host", beside: beside, env: []string{"JEEVES_PRUNER_URL=http:///prune"}, err: "JEEVES_PRUNER_URL"},
		{name: "url with a port alone", beside: beside, env: []string{"JEEVES_PRUNER_URL=http://:80/prune"}, err: "JEEVES_PRUNER_URL"},
		{name: "url with no port there is", beside: beside, env: []string{"JEEVES_PRUNER_URL=http://p.test:65536/"}, err: "JEEVES_PRUNER_URL"},
		{name: "url with port 0", beside: beside, env: []string{"JEEVES_PRUNER_URL=http://p.test:0/"}, err: "JEEVES_PRUNER_URL"},
		{name: "a password is not shown", beside: beside, env: []string{"JEEVES_PRUNER_URL=ftp://u:p@ss@p.test/"}, err: `JEEVES_PRUNER_URL="xxxxx@p.test/"`},
		{name: "timeout below", beside: beside, env: []string{"PRUNER_TIMEOUT_MS=99"}, err: "PRUNER_TIMEOUT_MS"},
		{name: "timeout above", beside: beside, env: []string{"PRUNER_TIMEOUT_MS=300001"}, err: "PRUNER_TIMEOUT_MS"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			servers, err := inject.Settings{Env: c.env, Dir: given, Root: "/root", Beside: c.beside}.Servers()
			if c.err != "" {
				assert.ErrorContains(t, err, c.err)
				assert.Empty(t, servers)
				return
			}
			require.NoError(t, err)
			want := inject.Server{Command: c.command, Args: append([]string{}, c.args...), Env: map[string]string{
				"PRUNER_URL": c.url, "MCP_PRUNER_CWD": "/root",
			}}
			assert.Equal(t, inject.Servers{"pruner": want}, servers)
		})
	}
}

// TestPassed: what a user sets for the server reaches it also in a client that
// clears the environment; keys of models and clients do not.
func TestPassed(t *testing.T) {
	passed := inject.Settings{Env: []string{
		"PRUNER_TIMEOUT_MS=1", "MCP_PRUNER_TRACE=x", "MCP_PRUNER_TRACE=y", "DEEPINFRA_API_KEY=k",
		"PRUNER_URL=ignored", "MCP_PRUNER_CWD=ignored", "JEEVES_PRUNER_URL=x", "OPENAI_API_KEY=s", "ANTHROPIC_API_KEY=s", "HOME=/",
	}}.Passed()
	assert.Equal(t, []string{"DEEPINFRA_API_KEY", "MCP_PRUNER_TRACE", "PRUNER_TIMEOUT_MS"}, passed)
}

// TestTools: what a client may use without asking is what the server's settings
// choose, and bash only with a shell.
func TestTools(t *testing.T) {
	for _, c := range []struct {
		env            []string
		without, withs []string
	}{
		{nil, []string{"read", "grep"}, []string{"read", "bash", "grep"}},
		{[]string{"MCP_PRUNER_TOOLS=read, bash"}, []string{"read"}, []string{"read", "bash"}},
		{[]string{"MCP_PRUNER_TOOLS=bash"}, nil, []string{"bash"}},
		{[]string{"MCP_PRUNER_TOOLSETS=core,text"}, []string{"read", "grep", "prune_text", "recover_text"},
			[]string{"read", "bash", "grep", "prune_text", "recover_text"}},
	} {
		set := inject.Settings{Env: c.env}
		assert.ElementsMatch(t, c.without, set.Tools(false), "%q", c.env)
		assert.ElementsMatch(t, c.withs, set.Tools(true), "%q", c.env)
	}
}
