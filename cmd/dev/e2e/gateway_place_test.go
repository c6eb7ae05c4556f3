//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/e2e/mockmodel"
)

// place is where a client has its servers, and how one of its rules is written for each of these servers' tools: filesystem is
// allowed except for get_file_info, memory has a variable and a time limit and only create_entities of it is allowed, everything is
// switched off.
type place struct {
	file  string // below the home folder
	write func(w *world, file string, servers map[string]upstream)
	run   func(w *world) *exec.Cmd
	call  func(server, tool string) mockmodel.Call
}

// entry is a server's entry with more members.
func (s upstream) entry(more map[string]any) map[string]any {
	e := map[string]any{"command": s.Command, "args": s.Args}
	if s.Env != nil {
		e["env"] = s.Env
	}
	for name, value := range more {
		e[name] = value
	}
	return e
}

func serversCall(server, tool string) mockmodel.Call {
	return mockmodel.Call{Server: server, Tool: tool}
}

var places = map[string]place{
	"codex": {
		file: "config.toml",
		write: func(w *world, file string, servers map[string]upstream) {
			config := fmt.Sprintf(codexConfig, w.model.URL)
			for name, more := range map[string]string{
				"filesystem": `disabled_tools = ["get_file_info"]`, "memory": `enabled_tools = ["create_entities"]` + "\ntool_timeout_sec = 30",
				"everything": "enabled = false",
			} {
				s := servers[name]
				config += fmt.Sprintf("[mcp_servers.%s]\ncommand = %q\nargs = [%s]\nstartup_timeout_sec = 60\n%s\n", name, s.Command, `"`+strings.Join(s.Args, `", "`)+`"`, more)
				for key, value := range s.Env {
					config += fmt.Sprintf("[mcp_servers.%s.env]\n%s = %q\n", name, key, value)
				}
			}
			w.write(file, config, 0o600)
		},
		run: func(w *world) *exec.Cmd { return w.own("go on") }, call: serversCall,
	},
	"opencode": {
		file: ".config/opencode/opencode.json",
		write: func(w *world, file string, servers map[string]upstream) {
			w.write(file, fmt.Sprintf(opencodeConfig, w.model.URL), 0o600)
			entries := map[string]any{}
			for name, s := range servers {
				entries[name] = map[string]any{"type": "local", "command": append([]string{s.Command}, s.Args...), "environment": s.Env, "timeout": 60000, "enabled": name != "everything"}
			}
			entries["filesystem"].(map[string]any)["environment"] = map[string]string{}
			entries["everything"].(map[string]any)["environment"] = map[string]string{}
			w.set(file, "mcp", entries)
			w.set(file, "permission", map[string]string{"*": "allow", "filesystem_get_file_info": "deny", "memory_*": "deny", "memory_create_entities": "allow"})
		},
		run: func(w *world) *exec.Cmd { return w.own("go on") }, call: serversCall,
	},
	"gemini": {
		file: ".gemini/settings.json",
		write: func(w *world, file string, servers map[string]upstream) {
			w.set(file, "mcpServers", map[string]any{
				"filesystem": servers["filesystem"].entry(map[string]any{"excludeTools": []string{"get_file_info"}, "trust": true}),
				"memory":     servers["memory"].entry(map[string]any{"includeTools": []string{"create_entities"}, "timeout": 30000}),
				"everything": servers["everything"].entry(nil),
			})
			w.set(file, "mcp", map[string]any{"excluded": []string{"everything"}})
		},
		run: func(w *world) *exec.Cmd { return w.own("go on") }, call: serversCall,
	},
	"copilot": {
		file: ".copilot/mcp-config.json",
		write: func(w *world, file string, servers map[string]upstream) {
			all := map[string]any{"type": "local", "tools": []string{"*"}}
			require.NoError(w.t, os.MkdirAll(filepath.Dir(file), 0o755))
			w.set(file, "mcpServers", map[string]any{
				"filesystem": servers["filesystem"].entry(all), "everything": servers["everything"].entry(all),
				"memory": servers["memory"].entry(map[string]any{"type": "local", "tools": []string{"create_entities"}, "timeout": 30000}),
			})
		},
		run: func(w *world) *exec.Cmd {
			cmd := w.own("go on")
			cmd.Args = append(cmd.Args, "--allow-tool=filesystem", "--allow-tool=memory", "--deny-tool=filesystem(get_file_info)", "--disable-mcp-server=everything")
			return cmd
		},
		call: func(server, tool string) mockmodel.Call { return mockmodel.Call{Tool: server + "-" + tool} },
	},
}

// copilot is GitHub's CLI with a model provider of the user's own, which needs no login.
func copilot(t *testing.T) client {
	dir, err := installFrom("clients/copilot/package.json", "mcp-pruner-e2e-copilot")
	if err != nil {
		t.Skip(err)
	}
	return client{
		name: "copilot", program: filepath.Join(dir, "node_modules/@github/copilot-linux-x64/copilot"),
		direct: []string{"--no-auto-update", "--no-color", "-p"},
		setUp: func(w *world) {
			w.env = append(w.env, "COPILOT_OFFLINE=true", "COPILOT_PROVIDER_BASE_URL="+w.model.URL+"/v1", "COPILOT_PROVIDER_API_KEY=sk-secret-mock", "COPILOT_MODEL=gpt-4.1")
		},
	}
}

// TestWrappingKeepsTheRulesOfTheOthers proves for four more clients that their own rules, variables, time limits and switches hold
// before servers are wrapped, while they are, and afterwards, and that a model is told less while they are.
func TestWrappingKeepsTheRulesOfTheOthers(t *testing.T) {
	for name, p := range places {
		t.Run(name, func(t *testing.T) {
			c := client{}
			if name == "copilot" {
				c = copilot(t)
			} else {
				c = clientNamed(t, name)
			}
			w, servers := gatewayWorld(t, c, false)
			p.holds(w, servers)
		})
	}
}

func (p place) holds(w *world, servers map[string]upstream) {
	t, name, file := w.t, w.client.name, filepath.Join(w.home, p.file)
	p.write(w, file, servers)
	run := func(when string) (bytes int) {
		path := map[string]any{"path": filepath.Join(w.dir, "crate.txt")}
		ada := map[string]any{"entities": []any{map[string]any{"name": "Ada", "entityType": "person", "observations": []any{when}}}}
		var turns []mockmodel.Turn
		for _, one := range []struct {
			server, tool string
			args         map[string]any
		}{
			{"filesystem", "read_text_file", path}, {"filesystem", "get_file_info", path}, {"memory", "create_entities", ada},
			{"memory", "read_graph", map[string]any{}}, {"everything", "echo", map[string]any{"message": "hello"}},
		} {
			call := p.call(one.server, one.tool)
			call.Args = one.args
			turns = append(turns, mockmodel.Turn{Calls: []mockmodel.Call{call}})
		}
		w.model.Play(append(turns, done)...)
		_ = os.Remove(servers["memory"].Env["MEMORY_FILE_PATH"])
		before := len(w.model.Requests())
		out, err := p.run(w).CombinedOutput()
		require.NoError(t, err, string(out))
		results := w.results()
		require.Len(t, results, len(turns), "%s: %s", when, out)
		assert.Contains(t, results[0].text+string(results[0].value), "crate 4711", when)
		assert.NotContains(t, string(results[1].value), "size:", "%s: denied", when)
		assert.NotContains(t, string(results[3].value), "relations", "%s: denied", when)
		assert.NotContains(t, string(results[4].value), "Echo: hello", "%s: switched off", when)
		kept, err := os.ReadFile(servers["memory"].Env["MEMORY_FILE_PATH"])
		require.NoError(t, err, "%s: the variable", when)
		assert.Contains(t, string(kept), "Ada", when)
		for _, r := range w.model.Requests()[before:] {
			bytes = max(bytes, len(r.Body))
		}
		return bytes
	}
	plain := run("before") // opencode adds a member to its file when it first starts
	original, err := os.ReadFile(file)
	require.NoError(t, err)
	t.Log(w.ours("gateway", "init", "--yes", name))
	wrapped, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, strings.Count(string(wrapped), `"--wrap"`), 2, "%s", wrapped)
	assert.Less(t, run("wrapped"), plain, "the texts of the tools are shorter")
	w.ours("gateway", "init", "--uninstall", name)
	again, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(original), string(again))
	run("after")
	w.nothingLeft()
}
