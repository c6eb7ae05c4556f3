//go:build e2e

package e2e

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/e2e/mockmodel"
)

// wrappedServers returns servers as "gateway init" writes them.
func wrappedServers(servers map[string]upstream) map[string]upstream {
	out := map[string]upstream{}
	for name, s := range servers {
		out[name] = upstream{pruner, slices.Concat([]string{"gateway", "--wrap", "--", s.Command}, s.Args), s.Env}
	}
	return out
}

// TestWrappedServersWithClients proves that real clients offer their models the same tools of wrapped servers, with shorter texts, and
// get the same bytes from them.
func TestWrappedServersWithClients(t *testing.T) {
	for _, name := range []string{"claude", "codex", "opencode"} {
		t.Run(name, func(t *testing.T) {
			direct := func(w *world) []mockmodel.Turn {
				return turnsOf(gatewayCalls(w), func(one throughGateway) mockmodel.Turn { return one.direct(name) })
			}
			plain, servers := gatewayWorld(t, clientNamed(t, name), false)
			want := plain.reach(servers, direct(plain))
			w, servers := gatewayWorld(t, clientNamed(t, name), false)
			assert.Equal(t, want, w.reach(wrappedServers(servers), direct(w)))
			assert.Less(t, len(w.model.Requests()[0].Body), len(plain.model.Requests()[0].Body), "the texts of its tools are shorter")
			w.nothingLeft()
		})
	}
}

// TestWrappingKeepsTheRulesOfClaude proves that a rule for one tool of a server in Claude Code's own configuration holds before, while
// and after the server is wrapped.
func TestWrappingKeepsTheRulesOfClaude(t *testing.T) {
	w, servers := gatewayWorld(t, clientNamed(t, "claude"), false)
	file := filepath.Join(w.home, ".claude.json")
	w.set(file, "mcpServers", servers)
	w.env = append(w.env, "MCP_CONNECTION_NONBLOCKING=0", "MCP_TIMEOUT=60000", "ENABLE_TOOL_SEARCH=false")
	args := map[string]any{"path": filepath.Join(w.dir, "crate.txt")}
	turn := func(server, tool string, args map[string]any) mockmodel.Turn {
		return throughGateway{}.turn(server, tool, args)
	}
	holds := func(when string) {
		t.Helper()
		w.model.Play(turn("filesystem", "read_text_file", args), turn("filesystem", "get_file_info", args), turn("memory", "read_graph", map[string]any{}), done)
		cmd := w.own("go on")
		var own struct {
			Servers map[string]upstream `json:"mcpServers"`
		}
		require.NoError(t, json.Unmarshal([]byte(w.files()[file]), &own))
		cmd.Args = slices.Insert(cmd.Args, 1, "--mcp-config="+w.serversFile("mcp.json", own.Servers), "--allowedTools=mcp__filesystem__*", "--disallowedTools=mcp__filesystem__get_file_info")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		results := w.results()
		require.GreaterOrEqual(t, len(results), 3, string(out))
		results = results[len(results)-3:]
		assert.Contains(t, results[0].text, "crate 4711", when)
		assert.True(t, results[1].error, "%s: denied", when)
		assert.True(t, results[2].error, "%s: never allowed", when)
	}
	holds("before")
	assert.Contains(t, w.ours("gateway", "init", "--yes", "claude"), "everything: ")
	assert.Contains(t, w.files()[file], `"--wrap"`)
	holds("wrapped")
	w.ours("gateway", "init", "--uninstall", "claude")
	assert.NotContains(t, w.files()[file], `"--wrap"`)
	holds("after")
	w.nothingLeft()
}
