package texttools

import (
	"context"

	"golang.org/x/sync/semaphore"

	"mcp-pruner/cmd/internal/mcpserver"
)

const (
	// answerBudget is how many bytes of large recovered texts are on their way at once;
	// more wait. In memory each byte is there some four times: as text, as JSON in the
	// result, and as the answer that is written.
	answerBudget = 64 << 20
	// freeAnswer is what needs no room: small answers wait for no large one.
	freeAnswer = 64 << 10
)

// budget bounds the answers that are being made or written.
type budget struct {
	room *semaphore.Weighted
	most int64
}

func newBudget(most int64) budget { return budget{semaphore.NewWeighted(most), most} }

// hold waits for room for an answer, which is given back when it has been written. One
// that is larger than all the room there is waits for all of it.
func (b budget) hold(ctx context.Context, size int64) error {
	caller := mcpserver.CallerOf(ctx)
	if size <= freeAnswer || caller == nil {
		return nil
	}
	size = min(size, b.most)
	if err := b.room.Acquire(ctx, size); err != nil {
		return err
	}
	caller.AtEnd(func() { b.room.Release(size) })
	return nil
}
