package tools

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"mcp-pruner/tools/tokens/exact"
)

// TestDefinitionsAreSmall counts what a model reads of the tools before any call.
func TestDefinitionsAreSmall(t *testing.T) {
	total := 0
	for name, tool := range newTools(t, Settings{}) {
		definition, err := json.Marshal(map[string]any{"name": name, "description": tool.Description, "inputSchema": tool.InputSchema})
		require.NoError(t, err)
		n := exact.Count(string(definition))
		t.Logf("%s: %d tokens", name, n)
		total += n
	}
	assert.LessOrEqual(t, total, 700)
}
