package exact_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/exact"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// TestDefinitionsAreSmall counts what a model reads of the tools before any call.
func TestDefinitionsAreSmall(t *testing.T) {
	total := 0
	all, err := tools.New(tools.Settings{Root: t.TempDir()})
	require.NoError(t, err)
	for _, tool := range all {
		name := tool.Name
		definition, err := json.Marshal(map[string]any{"name": name, "description": tool.Description, "inputSchema": tool.InputSchema})
		require.NoError(t, err)
		n := exact.Count(string(definition))
		t.Logf("%s: %d tokens", name, n)
		total += n
	}
	assert.LessOrEqual(t, total, 700)
}

func TestInstructionsAreShort(t *testing.T) {
	assert.LessOrEqual(t, exact.Count(tools.Instructions), 60)
}
