package verbs

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// The limits come from the flags, else from the settings, and a cleaned ledger needs less space.
func TestGCClean(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ledger.db")
	now := time.Now()
	for _, days := range []int{100, 50, 0} {
		store, err := store.OpenLedger(store.LedgerFile{File: file, Now: func() time.Time { return now.Add(-time.Duration(days) * 24 * time.Hour) }})
		require.NoError(t, err)
		text := make([]byte, 500_000)
		text[0] = byte(days)
		_, err = store.Put(t.Context(), contextgc.Entry{Text: string(text), Segment: contextgc.Segment{Project: "p", Tokens: 900}})
		require.NoError(t, err)
		require.NoError(t, store.Close())
	}
	code, out, _ := runGC(t, file, "stats")
	assert.Zero(t, code)
	assert.Regexp(t, `The ledger has 3 segments \(0 pinned\) of 0 sessions since \d{4}-\d\d-\d\d in 1\.[5-9] MB\.`, out)
	code, out, _ = runGC(t, file, "stats", "--ledger", "--json")
	assert.Zero(t, code)
	var size contextgc.Size
	require.NoError(t, json.Unmarshal([]byte(out), &size))
	assert.Equal(t, 3, size.Segments)
	assert.Greater(t, size.Bytes, int64(1_500_000))
	code, out, _ = runGC(t, file, "stats", "--ledger")
	assert.Zero(t, code)
	assert.Regexp(t, `^The ledger has 3 segments .*\n$`, out)
	code, out, _ = runGCWith(t, []string{"MCP_PRUNER_GC_KEEP_DAYS=0"}, file, "clean")
	assert.Zero(t, code)
	assert.Contains(t, out, "0 segments removed\n")
	code, out, _ = runGC(t, file, "clean")
	assert.Zero(t, code)
	assert.Contains(t, out, "1 segment removed\nThe ledger has 2 segments", "90 days by default")
	code, out, _ = runGC(t, file, "clean", "--keep-days", "30", "--json")
	assert.Zero(t, code)
	var done gcCleaned
	require.NoError(t, json.Unmarshal([]byte(out), &done))
	assert.Equal(t, []int{1, 1}, []int{done.Removed, done.After.Segments})
	assert.Less(t, done.After.Bytes, done.Before.Bytes-400_000)
	code, _, errs := runGC(t, file, "clean", "--keep-days", "-1")
	assert.Equal(t, 2, code)
	assert.Contains(t, errs, "cannot be negative")
}
