package provider_test

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/provider"
)

// TestCodexConfigIsTOML: whatever is in a path or a URL, Codex reads it back.
func TestCodexConfigIsTOML(t *testing.T) {
	nasty := "a \"b\" \\ 'c' \t\n\x00\x1f\x7f <&> é 😀  ${x}"
	settings := provider.CodexConfig(provider.Launch{
		Servers: inject.Servers{"pruner": {Command: nasty, Args: []string{nasty, "", "-x"}, Env: map[string]string{"PRUNER_URL": nasty, "B": ""}}},
		Passed:  []string{"X"},
	})
	var got struct {
		Servers map[string]struct {
			Command  string
			Args     []string
			Env      map[string]string
			EnvVars  []string `toml:"env_vars"`
			Required bool
		} `toml:"mcp_servers"`
	}
	err := toml.Unmarshal([]byte(strings.Join(settings, "\n")), &got)
	require.NoError(t, err)
	server := got.Servers["pruner"]
	assert.Equal(t, nasty, server.Command)
	assert.Equal(t, []string{nasty, "", "-x"}, server.Args)
	assert.Equal(t, map[string]string{"PRUNER_URL": nasty, "B": ""}, server.Env)
	assert.Equal(t, []string{"X"}, server.EnvVars)
	assert.True(t, server.Required)
}

// TestCodexConfigHidesTheUsersEntry: what a user's own entry of that name has, and
// ours has not, is laid over all the same.
func TestCodexConfigHidesTheUsersEntry(t *testing.T) {
	for name, server := range map[string]inject.Server{"started": {Command: "/s"}, "over HTTP": {URL: "http://localhost:1/mcp"}} {
		settings := provider.CodexConfig(provider.Launch{Servers: inject.Servers{"pruner": server}})
		assert.Contains(t, settings, "mcp_servers.pruner.enabled=true", name)
		assert.Equal(t, server.URL == "", slices.Contains(settings, "mcp_servers.pruner.args=[]"), name)
	}
}

// TestCodexSaysNothing: where the user's own options turn the server off or do not
// require it, a thread that starts does not mean that the server is there.
func TestCodexSaysNothing(t *testing.T) {
	for options, ready := range map[string]bool{
		"": true, "-c mcp_servers.pruner.tool_timeout_sec=1": true, "-c mcp_servers.other.enabled=false": true,
		"-c mcp_servers.pruner.enabled=true": true, "-c mcp_servers.pruner.enabled": true, "-c mcp_servers.pruner={}": true,
		"-c mcp_servers.pruner.enabled=false -c mcp_servers.pruner.enabled=true": true,
		"-c mcp_servers.pruner.enabled=false":                                    false, "-cmcp_servers.pruner.required=false": false,
		"--config mcp_servers.pruner={required=false}": false, "--config=mcp_servers={pruner={enabled=false}}": false,
	} {
		var told []provider.News
		l := provider.Launch{Servers: inject.Servers{"pruner": {}}, Options: strings.Fields(options)}
		reader := provider.Codex{}.Read(l, provider.Output{Report: func(r provider.Report) { told = append(told, r.News) }})
		reader.Stdout([]byte(`{"type":"thread.started"}`))
		assert.Equal(t, ready, len(told) == 1, options)
	}
}

// TestReadersReadBothStreams: each stream is read in a goroutine of its own.
func TestReadersReadBothStreams(t *testing.T) {
	for _, p := range provider.All() {
		l := provider.Launch{Servers: inject.Servers{"pruner": {}}}
		reader := p.Read(l, provider.Output{Stdout: io.Discard, Stderr: io.Discard, Report: func(provider.Report) {}})
		var both sync.WaitGroup
		both.Go(func() { reader.Stdout([]byte(`{"type":"thread.started"}`)) })
		both.Go(func() { reader.Stderr([]byte("required MCP servers failed to initialize: pruner: no")) })
		both.Wait()
	}
}

// TestCodexRefusesOurEntry: of what Codex cannot read, only our own entry is ours.
func TestCodexRefusesOurEntry(t *testing.T) {
	for entry, ours := range map[string]bool{
		"pruner": true, "pruner.command": true, "pruner2": false, "pruner-x": false, "pruner2.command": false, "other": false,
	} {
		told := 0
		reader := provider.Codex{}.Read(provider.Launch{}, provider.Output{Report: func(provider.Report) { told++ }})
		reader.Stderr([]byte("Error loading config.toml: url is not supported for stdio"))
		reader.Stderr([]byte("in `mcp_servers." + entry + "`"))
		assert.Equal(t, ours, told == 1, entry)
	}
}

func TestCodexDir(t *testing.T) {
	for options, want := range map[string]string{
		"": "/run", "-C /x": "/x", "--cd sub": "/run/sub", "--cd=/y -m gpt": "/y", "-m -C": "/run",
		"-Csub": "/run/sub", "-C/x -m gpt": "/x", "-C=sub": "/run/sub", "-C a --cd b": "/run/b", "--color never": "/run",
	} {
		assert.Equal(t, want, provider.Codex{}.Dir(strings.Fields(options), "/run"), options)
	}
}

// TestOptionsStayTheUsers: what is injected wins nothing over what the user says.
func TestOptionsStayTheUsers(t *testing.T) {
	servers := inject.Servers{"pruner": {Command: "/s"}}
	l := provider.Launch{Servers: servers, Prompt: "--help", Options: []string{"--allowedTools", "Bash Edit", "--output-format", "text"}}
	args := provider.Claude{}.Args(l)
	assert.Equal(t, []string{"--allowedTools", "Bash Edit", "--", "--help"}, args[len(args)-4:])
	assert.NotContains(t, args, "text", "the format is ours while a server is injected")

	l.Options = []string{"--json", "-c", "mcp_servers.pruner.required=false"}
	args = provider.Codex{}.Args(l)
	assert.Equal(t, []string{"-c", "mcp_servers.pruner.required=false", "--", "--help"}, args[len(args)-4:])
}

// TestNewShapes: a field that a later version of a client spells differently does
// not hide the rest of its event.
func TestNewShapes(t *testing.T) {
	var out bytes.Buffer
	read := func(p provider.Provider, line string) string {
		out.Reset()
		l := provider.Launch{Servers: inject.Servers{"pruner": {}}}
		reader := p.Read(l, provider.Output{Stdout: &out, Stderr: &out, Report: func(provider.Report) {}})
		reader.Stdout([]byte(line))
		reader.Stdout([]byte(`{"type":"turn.completed"}`))
		return out.String()
	}
	assert.Equal(t, "x\n", read(provider.Claude{}, `{"type":"result","subtype":"success","tools":{},"result":"x"}`))
	assert.Equal(t, "x\n", read(provider.Codex{}, `{"type":"item.completed","item":{"type":"agent_message","text":"x","server":7}}`))
}

// FuzzReaders: a client may print anything. Whatever it is, a reader survives it,
// and one in raw mode prints nothing itself.
func FuzzReaders(f *testing.F) {
	for _, line := range []string{
		`{"type":"system","subtype":"init","tools":["mcp__pruner__read"],"mcp_servers":[{"name":"pruner","status":"connected"}]}`,
		`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"mcp__pruner__read"}]}}`,
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":"Connection closed"}]},"tool_use_result":"x"}`,
		`{"type":"result","result":null}`, `{"type":"thread.started"}`, `{"type":1}`, `[]`, `null`, `{`, ``, "\xff",
		`{"type":"item.completed","item":{"type":"mcp_tool_call","server":"pruner","status":"failed","error":null,"result":{"_meta":null}}}`,
		`x required MCP servers failed to initialize: pruner: y`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, p := range provider.All() {
			for _, options := range [][]string{nil, {"--json", "--output-format=stream-json"}} {
				var out bytes.Buffer
				l := provider.Launch{Servers: inject.Servers{"pruner": {}}, Options: options}
				reader := p.Read(l, provider.Output{Stdout: io.Discard, Stderr: io.Discard, Report: func(provider.Report) {}})
				for range 2 {
					reader.Stdout(line)
					reader.Stderr(line)
				}
				if reader.Raw() {
					assert.Empty(t, out.String())
				}
			}
		}
	})
}
