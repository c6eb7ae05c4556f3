//go:build e2e

package e2e

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReplayOfOpencodesSessions proves that replay finds and bills the sessions that opencode itself recorded.
func TestReplayOfOpencodesSessions(t *testing.T) {
	w := hooked(t, other("opencode"))
	w.model.Play(
		native("I look where openLedger counts retries.", "read", map[string]any{"filePath": filepath.Join(w.dir, "ledger.go")}),
		native("I run it.", "bash", map[string]any{"command": "echo one; exit 3", "description": "which test failed and why"}),
		done)
	out, err := w.own("how often is it tried?").CombinedOutput()
	require.NoError(t, err, string(out))
	var report struct {
		Sessions int                `json:"sessions"`
		Measured int                `json:"sessions_with_usage"`
		Calls    int                `json:"calls"`
		Bill     float64            `json:"bill"`
		Share    map[string]float64 `json:"share_pct"`
	}
	text := w.ours("replay", "--policy", "hook", "--json")
	require.NoError(t, json.Unmarshal([]byte(text), &report), text)
	assert.Equal(t, []int{1, 1, 3}, []int{report.Sessions, report.Measured, report.Calls})
	assert.Contains(t, report.Share, "read")
	assert.Contains(t, report.Share, "bash")
	assert.Positive(t, report.Bill)
}
