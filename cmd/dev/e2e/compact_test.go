//go:build e2e

package e2e

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestClaudeCompaction proves that after a compaction in Claude Code the hooks tell the model which outputs it can
// recover, and that the command they name returns the exact output.
func TestClaudeCompaction(t *testing.T) {
	w := hooked(t, only("claude"))
	w.model.Play(native("", "Bash", map[string]any{"command": "true", "description": "nothing"}), // the session can run a command
		native("I read the ledger.", "Read", map[string]any{"file_path": filepath.Join(w.dir, "ledger.go")}), done)
	w.claude()
	compacted := w.play("-p", "/compact", "--output-format", "stream-json", "--verbose", "--setting-sources", "user", "--strict-mcp-config", "--continue")
	assert.Contains(t, compacted, "hook claude] completed successfully")
	w.claude("--continue")
	requests := w.model.Requests()
	said := regexp.MustCompile(`Whole outputs from before the compaction, recoverable with [^"]*?: (prn_[0-9a-f]{8}) \(Read [^ ]*ledger\.go, [1-9]`).
		FindStringSubmatch(string(requests[len(requests)-1].Body))
	require.NotNil(t, said, compacted)
	assert.Equal(t, ledgerGo(), w.ours("recover", said[1]))
}
