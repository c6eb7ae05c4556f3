package ledger

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// cleanEvery is the time between two cleanings of a ledger by the same process.
const cleanEvery = 24 * time.Hour

// Clean removes what is beyond the limits, and the index's entries of texts that are gone.
func Clean(ctx context.Context, store contextgc.Ledger, index recovery.Index, limits contextgc.Limits) (removed int, err error) {
	if removed, err = store.Clean(ctx, limits); err != nil || index.State == "" {
		return removed, err
	}
	has := func(sum [sha256.Size]byte) (bool, error) { return store.Has(ctx, sum) }
	return removed, index.Sweep(store.Name(), has, time.Now())
}

// KeepClean calls Clean now and once a day, until stop is called. failed is called with errors.
func KeepClean(store contextgc.Ledger, index recovery.Index, limits contextgc.Limits, failed func(error)) (stop func()) {
	if limits == (contextgc.Limits{}) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var working sync.WaitGroup
	working.Go(func() {
		for {
			if _, err := Clean(ctx, store, index, limits); err != nil && ctx.Err() == nil {
				failed(err)
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(cleanEvery):
			}
		}
	})
	return func() {
		cancel()
		working.Wait()
	}
}
