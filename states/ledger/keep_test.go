package ledger

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// A ledger is cleaned at once and then once a day.
func TestKeepClean(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ledger.db")
	synctest.Test(t, func(t *testing.T) {
		store, err := store.OpenLedger(store.LedgerFile{File: file})
		require.NoError(t, err)
		defer func() { assert.NoError(t, store.Close()) }()
		segments := func() int {
			size, err := store.Size(t.Context())
			require.NoError(t, err)
			return size.Segments
		}
		put := func() {
			_, err := store.Put(t.Context(), contextgc.Entry{Text: "a text", Segment: contextgc.Segment{Project: "p"}})
			require.NoError(t, err)
		}
		put()
		time.Sleep(3 * 24 * time.Hour)
		put()
		stop := KeepClean(store, recovery.Index{}, contextgc.Limits{Age: 48 * time.Hour}, func(err error) { t.Error(err) })
		synctest.Wait()
		assert.Equal(t, 1, segments())
		time.Sleep(47 * time.Hour)
		synctest.Wait()
		assert.Equal(t, 1, segments())
		time.Sleep(26 * time.Hour)
		synctest.Wait()
		assert.Zero(t, segments())
		stop()
	})
}
