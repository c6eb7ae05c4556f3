//go:build e2e

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestASessionWithoutAShell proves that Claude Code with Read and Grep alone is told of no command: a search stays whole, and of a
// file the model is told to read the range again, which then comes whole.
func TestASessionWithoutAShell(t *testing.T) {
	w := hooked(t, only("claude"))
	file := filepath.Join(w.dir, "ledger.go")
	w.model.Play(
		native("I look where openLedger counts retries.", "Grep", map[string]any{"pattern": "func|retries", "path": file, "output_mode": "content", "-n": true, "head_limit": 0}),
		native("I look where openLedger counts retries.", "Read", map[string]any{"file_path": file}),
		native("", "Read", map[string]any{"file_path": file, "offset": 10, "limit": 60}),
		done)
	out := w.claude("--tools", "Read,Grep")
	results := w.results()
	require.Len(t, results, 3, out)
	shown := string(w.lastRequest())
	assert.NotContains(t, shown, "recover prn_")
	for _, line := range []string{"func handler0(", "func handler119(", "retries++"} {
		assert.Contains(t, results[0].text, line, "the search stays whole")
	}
	assert.Less(t, len(results[1].text), len(ledgerGo())/3, "the file was cut")
	assert.Contains(t, shown, "lines; rest: read that range of the file again]")
	assert.Contains(t, shown, "func openLedger")
	range60 := strings.Split(ledgerGo(), "\n")[9:69]
	for _, line := range range60 {
		assert.Contains(t, results[2].text, line)
	}
}
