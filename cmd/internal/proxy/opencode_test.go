package proxy

import (
	"fmt"
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm/event"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/archive"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// opencodeHistory returns n calls in the form that opencode's plugins get.
func opencodeHistory(n int) []byte {
	m := []any{map[string]any{"info": map[string]any{"role": "user"}, "parts": []any{map[string]any{"type": "text", "text": "fix the bug"}}}}
	for i := range n {
		m = append(m, map[string]any{"info": map[string]any{"role": "assistant"}, "parts": []any{
			map[string]any{"type": "step-start"},
			map[string]any{"type": "tool", "tool": "bash", "callID": fmt.Sprintf("call_%d", i), "state": map[string]any{
				"status": "completed", "input": map[string]any{"command": fmt.Sprintf("run %d", i)}, "output": output(i)}},
			map[string]any{"type": "step-finish", "reason": "tool-calls"},
		}})
	}
	return encoded(m)
}

// TestOpencodeMessages checks the complete answer to opencode's plugin, which stays the same in later
// requests.
func TestOpencodeMessages(t *testing.T) {
	store, err := contextgc.Open(contextgc.StoreSettings{File: database(t)})
	require.NoError(t, err)
	defer func() { _ = store.Close() }()
	index := archive.Index{State: t.TempDir()}
	ask := func(messages []byte) (map[string]string, error) {
		return ClearOpencode(t.Context(), store, index, t.TempDir(), "mcp-pruner recover", "ses_1", messages, nil, func(event.Event) {})
	}
	var shown map[string]string
	for n := 1; n <= 40; n++ {
		before := maps.Clone(shown)
		shown, err = ask(opencodeHistory(n))
		require.NoError(t, err)
		for id, text := range before {
			require.Equal(t, text, shown[id], "what was shown once is shown again")
		}
	}
	require.Greater(t, len(shown), 20)
	assert.NotContains(t, shown, "call_39", "the last results stay")
	assert.Equal(t, output(0), original(t, index, shown["call_0"]), "the exact text")
	for _, odd := range []string{``, `{}`, `[7]`, `[{"info":{}}]`, `[{"info":{"role":"assistant"},"parts":[{"type":"tool","state":{}}]}]`} {
		_, err := ask([]byte(odd))
		assert.Error(t, err, odd)
	}
}
