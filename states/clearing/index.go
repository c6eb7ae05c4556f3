package clearing

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
)

// Index gives out the ids by which agents recover the texts that were replaced. In a database it is a table of the ledger: docs/decisions/067.
type Index interface {
	// Claim stores entries under new ids, which it returns in their order. With an error it returns those that it has stored.
	Claim(ctx context.Context, entries ...recovery.Entry) (ids []string, err error)
	// Find returns the entry of an id, or [recovery.ErrNotFound].
	Find(ctx context.Context, id string) (recovery.Entry, error)
	// Release removes an id that was never shown to anybody.
	Release(ctx context.Context, id string)
}

// Files is the index in the state directory of this machine's user.
type Files struct{ recovery.Index }

// Claim implements Index. An entry is a file of its own, for which a busy machine takes a millisecond: several are written at once.
func (f Files) Claim(_ context.Context, entries ...recovery.Entry) (ids []string, err error) {
	ids = make([]string, len(entries))
	var g errgroup.Group
	g.SetLimit(8)
	for i, e := range entries {
		g.Go(func() (err error) { ids[i], err = f.Index.Claim(e); return err })
	}
	err = g.Wait()
	return slices.DeleteFunc(ids, func(id string) bool { return id == "" }), err
}

// Find implements Index.
func (f Files) Find(_ context.Context, id string) (recovery.Entry, error) { return f.Index.Find(id) }

// Release implements Index.
func (f Files) Release(_ context.Context, id string) { f.Index.Release(id) }
