//go:build e2e

package e2e

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/e2e/mockmodel"
)

// TestGatewayRulesOfClaude proves that Claude Code's rules can be written for one server behind the gateway and for one tool of it:
// an allow rule for the server's prefix lets its tools run and no other server's, and a deny rule takes one of them away.
func TestGatewayRulesOfClaude(t *testing.T) {
	w, servers := gatewayWorld(t, clientNamed(t, "claude"), false)
	config := w.serversFile("servers.json", servers)
	w.ours("gateway", "list", "--mode", "trim", config) // saves the lists, so that none is late
	w.env = append(w.env, "MCP_CONNECTION_NONBLOCKING=0", "MCP_TIMEOUT=60000", "ENABLE_TOOL_SEARCH=false")
	behind := map[string]upstream{"gateway": {pruner, []string{"gateway", "--mode", "trim", config}, nil}}
	turn := func(tool string, args map[string]any) mockmodel.Turn {
		return throughGateway{}.turn("gateway", tool, args)
	}
	file := map[string]any{"path": filepath.Join(w.dir, "crate.txt")}
	w.model.Play(turn("filesystem_read_text_file", file), turn("filesystem_get_file_info", file), turn("memory_read_graph", map[string]any{}), done)

	cmd := w.own("go on")
	cmd.Args = slices.Insert(cmd.Args, 1, "--mcp-config="+w.serversFile("mcp.json", behind),
		"--allowedTools=mcp__gateway__filesystem_*", "--disallowedTools=mcp__gateway__filesystem_get_file_info")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))

	results := w.results()
	require.Len(t, results, 3, string(out))
	assert.False(t, results[0].error, results[0].text)
	assert.Contains(t, results[0].text, "crate 4711", "allowed by the rule for its server")
	assert.True(t, results[1].error, "denied by its own rule")
	assert.NotContains(t, results[1].text, "size:")
	assert.True(t, results[2].error, "another server's tool, which no rule allows")
	assert.NotContains(t, results[2].text, "relations")
	w.nothingLeft()
}
