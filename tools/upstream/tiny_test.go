package upstream

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// TestTrimAddsNothingButTheServersName checks on the lists of 70 servers that no tool is longer than its server lists it,
// but for the server's part of its name, and for types that model APIs want. Where a list is tiny, that part is more than
// trim removes.
func TestTrimAddsNothingButTheServersName(t *testing.T) {
	var longer []string
	for _, s := range benchServers(t) {
		for _, e := range Expose(s, Trimmed, Options{Tokens: tokens.Estimate, Target: DefaultTarget}) {
			d := e.Actions[0].Def
			if len(visible("", e.Description, e.InputSchema)) > len(visible("", d.Description, d.InputSchema)) {
				longer = append(longer, d.Name)
			}
		}
	}
	assert.Equal(t, []string{"list-components", "random_sample", "random_shuffle"}, longer, "they have values of no type")
}

// benchServers returns the 70 servers of a benchmark.
func benchServers(t *testing.T) (servers []Server) {
	t.Helper()
	var lists []struct {
		Server string
		Tools  json.RawMessage
	}
	require.NoError(t, json.Unmarshal(fixture(t, "livemcpbench/servers.json"), &lists))
	for _, l := range lists {
		tools, _, err := ParseList(l.Server, []byte(`{"tools":`+string(l.Tools)+`}`))
		require.NoError(t, err)
		servers = append(servers, Server{Name: l.Server, Tools: tools})
	}
	return servers
}
