package ledger

import (
	"context"
	"sync"
	"time"

	"mcp-pruner/tools/contextgc"
)

// cleanEvery is the time between two cleanings of a ledger by the same process.
const cleanEvery = 24 * time.Hour

// KeepClean removes what is beyond the limits, now and once a day, until stop is called. failed is called
// with errors.
func KeepClean(store *contextgc.Store, limits contextgc.Limits, failed func(error)) (stop func()) {
	if limits == (contextgc.Limits{}) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var working sync.WaitGroup
	working.Go(func() {
		for {
			if _, err := store.Clean(ctx, limits); err != nil && ctx.Err() == nil {
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
