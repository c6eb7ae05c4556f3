package mcpserver

import (
	"context"

	"golang.org/x/sync/semaphore"
)

const (
	// answerBudget is the maximum number of bytes of large recovered texts that are created or written at once.
	// Further ones wait. Each byte takes about four bytes of memory: in the text, in the JSON of the result, and in
	// the answer that is written.
	answerBudget = 64 << 20
	// freeAnswer is the largest answer, in bytes, that needs no room, so that small answers never wait for large
	// ones.
	freeAnswer = 64 << 10
)

// budget limits the total size of the answers that are being created or written.
type budget struct {
	room *semaphore.Weighted
	most int64
}

func newBudget(most int64) budget { return budget{semaphore.NewWeighted(most), most} }

// hold waits until the budget has room for an answer. The room is released when the answer has been written. An
// answer larger than the whole budget waits until all of it is free.
func (b budget) hold(ctx context.Context, size int64) error {
	caller := CallerOf(ctx)
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
