package clearing

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// Any mark of a place leads to a head, which is the latest decision in force there, and each decision to the one before it.
// A place that was lost by an edit therefore costs nothing if a later one is found. What a mark leads to is stored when a
// history is first sent, even if that is no decision, and never changes.

// group is the clearings decided at one place.
type group struct {
	parent wire.Key // the decision before it; zero: none
	items  map[wire.Key]decision
}

// recall returns the heads of the marks that are in memory, and the other marks.
func (e *Engine) recall(marks [][]wire.Key) (heads map[wire.Key]wire.Key, others [][32]byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	heads = make(map[wire.Key]wire.Key, min(len(e.heads), 4*len(marks)))
	for _, list := range marks {
		for _, m := range list {
			if head, ok := e.heads[m]; ok {
				heads[m] = head
			} else {
				others = append(others, m)
			}
		}
	}
	return heads, others
}

// lookup returns the heads of the known marks.
func (e *Engine) lookup(ctx context.Context, marks [][]wire.Key) (map[wire.Key]wire.Key, error) {
	heads, unknown := e.recall(marks)
	if len(unknown) == 0 {
		return heads, nil
	}
	stored, err := e.Store.Heads(ctx, unknown)
	if err != nil {
		return nil, err
	}
	if err := e.follow(ctx, stored); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for m, head := range stored {
		heads[m], e.heads[m] = head, head
	}
	return heads, nil
}

// follow loads the decisions that heads lead to and that are not in memory: those of histories that this process has not
// seen, and those that another process made just now. All of them are in memory before a mark that leads to them is, so
// that a history that was sent once is sent alike while the ledger is away.
func (e *Engine) follow(ctx context.Context, heads map[[32]byte][32]byte) error {
	missing := e.missing(heads)
	if len(missing) == 0 {
		return nil
	}
	list, err := e.Store.Chain(ctx, missing)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.learn(list)
	return nil
}

// missing returns the first decision on the way back from each head that is not in memory.
func (e *Engine) missing(heads map[[32]byte][32]byte) (ids [][32]byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	seen := map[wire.Key]bool{{}: true}
	for _, head := range heads {
		for k := wire.Key(head); !seen[k]; {
			seen[k] = true
			g := e.groups[k]
			if g == nil {
				ids = append(ids, k)
				break
			}
			k = g.parent
		}
	}
	return ids
}

// remember records what marks lead to, unless they are known. It is stored with the next decision or by flush.
func (e *Engine) remember(heads map[wire.Key]wire.Key) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.heads) > maxHeads {
		e.heads = maps.Clone(e.unstored)
	}
	for m, head := range heads {
		if _, ok := e.heads[m]; !ok {
			e.heads[m], e.unstored[m] = head, head
		}
	}
}

// maxHeads bounds the marks held in memory; the others are in the store.
const maxHeads = 200_000

// Flush stores what is left to store of the requests that have been answered. One call at a time does it; a call that waited finds nothing
// left. It returns an error, too, if the index cannot be written.
func (e *Engine) Flush(ctx context.Context) error {
	e.flushing.Lock()
	defer e.flushing.Unlock()
	_, err := e.flush(ctx)
	if index, local := e.Index.(Files); local {
		id, claimed := index.Index.Claim(recovery.Entry{})
		if err = errors.Join(err, claimed); claimed == nil {
			index.Index.Release(id)
		}
	}
	return errors.Join(err, e.putRest(ctx))
}

// putAtOnce is how many originals are stored in one transaction, for which others wait, and maxLater how many bytes of them wait for
// Flush, besides those of one request.
const (
	putAtOnce = 100
	maxLater  = 64 << 20
)

// leave leaves entries to Flush, unless too many wait already: a later request then finds them again.
func (e *Engine) leave(entries []contextgc.Entry) {
	e.mu.Lock()
	defer e.mu.Unlock()
	size := 0
	for _, one := range e.later {
		size += len(one.Text)
	}
	if size < maxLater {
		e.later = append(e.later, entries...)
	}
}

// putRest stores the entries that were left.
func (e *Engine) putRest(ctx context.Context) error {
	e.mu.Lock()
	rest := e.later
	e.later = nil
	e.mu.Unlock()
	for batch := range slices.Chunk(rest, putAtOnce) {
		if _, err := e.Store.Put(ctx, batch...); err != nil {
			return err
		}
	}
	return nil
}

// flush stores what remember recorded. Of marks that another process has stored since, its meaning holds: this process gives way,
// because two that disagree would break a cache with every request. gaveWay reports that there was such a mark.
func (e *Engine) flush(ctx context.Context) (gaveWay bool, err error) {
	e.mu.Lock()
	heads := make(map[[32]byte][32]byte, len(e.unstored))
	for m, head := range e.unstored {
		heads[m] = head
	}
	e.mu.Unlock()
	if len(heads) == 0 {
		return false, nil
	}
	all, err := e.Store.Settle(ctx, heads)
	if err != nil {
		return false, err
	}
	others := make(map[[32]byte][32]byte)
	if !all {
		if others, err = e.others(ctx, heads); err != nil {
			return false, err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for m := range heads {
		delete(e.unstored, m)
	}
	for m, head := range others {
		e.heads[m] = head
	}
	return len(others) > 0, nil
}

// others returns the heads in the store that differ from the given ones, after loading the decisions that they lead to.
func (e *Engine) others(ctx context.Context, heads map[[32]byte][32]byte) (map[[32]byte][32]byte, error) {
	stored, err := e.Store.Heads(ctx, slices.Collect(maps.Keys(heads)))
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(stored, func(m, head [32]byte) bool { return heads[m] == head })
	return stored, e.follow(ctx, stored)
}

// learn adds decisions from the store. A decision is stored and read as a whole and never changes.
func (e *Engine) learn(list []contextgc.Clearing) {
	mine := make(map[wire.Key]*group)
	for _, c := range list {
		g := mine[c.Since]
		if g == nil {
			g = &group{parent: c.Parent, items: make(map[wire.Key]decision)}
			mine[c.Since] = g
		}
		d := decision{c.Stub, tokens.Claude(c.Stub), c.Free, new(atomic.Bool)}
		if c.Stub == leftOut {
			d.tokens = 0
		}
		g.items[c.Item] = d
	}
	maps.Copy(e.groups, mine)
}
