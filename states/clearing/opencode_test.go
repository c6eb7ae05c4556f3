package clearing_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/clearing"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// output returns the output of the nth tool call.
func output(n int) string {
	return strings.Repeat(fmt.Sprintf("line of the output of call %d, \"quoted\" <and> ünlike others\n", n), 120)
}

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
	text, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return text
}

// TestOpencodeMessages checks the complete answer to opencode's plugin, which stays the same in later
// requests.
func TestOpencodeMessages(t *testing.T) {
	store, err := store.OpenLedger(store.LedgerFile{File: filepath.Join(t.TempDir(), "ledger.db")})
	require.NoError(t, err)
	defer func() { _ = store.Close() }()
	index := recovery.Index{State: t.TempDir()}
	folder := t.TempDir()
	ask := func(messages []byte) (map[string]string, error) {
		e := &clearing.Engine{Store: store, Index: clearing.Files{Index: index}, Machine: existing.Machine{Emit: func(fsm.Event) {}},
			Runs: clearing.NewRuns(nil, nil, "", time.Now), Policy: contextgc.DefaultPolicy(), Clears: true, Now: time.Now}
		return e.Opencode(t.Context(), folder, "ses_1", messages)
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
	_, way, _ := strings.Cut(shown["call_0"], existing.DefaultBack+" ")
	text, _, err := ledger.Original(t.Context(), index, folder, way[:len("prn_01234567")])
	require.NoError(t, err)
	assert.Equal(t, output(0), text, "the exact text")
	for _, odd := range []string{``, `{}`, `[7]`, `[{"info":{}}]`, `[{"info":{"role":"assistant"},"parts":[{"type":"tool","state":{}}]}]`} {
		_, err := ask([]byte(odd))
		assert.Error(t, err, odd)
	}
}
