package ledger

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// TestASpoolIsDrainedOnce: what hooks leave is stored once, whoever opens the ledger and
// however many do so at the same time.
func TestASpoolIsDrainedOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state", "ledger.db")
	const n = 150
	want := map[string]bool{}
	for i := range n {
		text := fmt.Sprintf("output %d\nof two lines\n", i)
		want[text] = true
		s := Spooler{Spool: SpoolOf(file), Text: text, Segment: contextgc.Segment{Project: "p", Session: "s", Tool: "Bash"}}
		s.Sent(100 + i)
	}
	require.NoError(t, os.WriteFile(filepath.Join(SpoolOf(file).Dir, "put-x.json"), []byte("no entry"), 0o600))
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			store, err := Open(context.Background(), file, func(m string) { t.Error(m) })
			if assert.NoError(t, err) {
				assert.NoError(t, store.Close())
			}
		})
	}
	all.Wait()
	store, err := Open(context.Background(), file, nil)
	require.NoError(t, err)
	defer func() { _ = store.Close() }()
	segments, err := store.List(context.Background(), contextgc.Filter{Project: "p", Tier: contextgc.Working})
	require.NoError(t, err)
	require.Len(t, segments, n)
	for _, s := range segments {
		_, text, err := store.Get(context.Background(), contextgc.Reference{Project: "p", ID: s.ID})
		require.NoError(t, err)
		assert.True(t, want[text], text)
		assert.GreaterOrEqual(t, s.Tokens, 100)
		delete(want, text)
	}
	left, err := os.ReadDir(SpoolOf(file).Dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestLinesOfResults(t *testing.T) {
	read := func(args map[string]any) contextgc.Segment {
		args["file_path"] = "a.go"
		return Result(history.ParseCall("Read", args), "one\ntwo\n")
	}
	for _, c := range []struct {
		args        map[string]any
		first, last int
	}{{map[string]any{}, 0, 0}, {map[string]any{"offset": 5.0}, 5, 6}, {map[string]any{"offset": 5.0, "limit": 40.0}, 5, 44}} {
		s := read(c.args)
		assert.Equal(t, []any{contextgc.Code, "a.go", c.first, c.last}, []any{s.Type, s.Path, s.FirstLine, s.LastLine})
	}
	assert.Equal(t, contextgc.Log, Result(history.ParseCall("Bash", map[string]any{"command": "make"}), "x").Type)
}
