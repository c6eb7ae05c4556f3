package verbs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm/trace/audit"
	"github.com/mcp-pruner/mcp-pruner/states/store/storetest"
)

// TestTracesOfReplicas: two servers keep their traces in one database, too, where they are verified and summed up together, and
// a batch that is taken out there is missed.
func TestTracesOfReplicas(t *testing.T) {
	database := storetest.Start(t)
	name := database.Database(t)
	for _, replica := range []string{"one", "two"} {
		root := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(root, "a.txt"), []byte("a line\n"), 0o600))
		s := startServer(t, root, "MCP_PRUNER_TRACE="+filepath.Join(root, replica+".jsonl"), "MCP_PRUNER_STORE="+name)
		require.NoError(t, s.call(1, "read", map[string]any{"file_path": "a.txt"}))
		s.close(t)
	}
	stdout, stderr, code := runTrace(t, "verify", "--store", name)
	require.Equal(t, traceOK, code, stdout+stderr)
	assert.NotContains(t, stdout, "note:", "the heads are there, too")
	stdout, stderr, code = runTrace(t, "stats", "--json", "--store", name)
	require.Equal(t, traceOK, code, stderr)
	var stats audit.Stats
	require.NoError(t, json.Unmarshal([]byte(stdout), &stats))
	assert.Equal(t, 2, stats.Requests)

	database.SQL(t, name, "DELETE FROM mcp_pruner.traces WHERE id = (SELECT MIN(id) FROM mcp_pruner.traces WHERE length(lines) > 0)")
	stdout, _, code = runTrace(t, "verify", "--store", name)
	assert.Equal(t, traceInvalid, code, stdout)
	_, stderr, code = runTrace(t, "verify", "--store", name, "a.jsonl")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "--store or FILE?")
}
