package clearing

import (
	"context"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
)

// Index gives out the ids by which agents recover the texts that were replaced. It is in the same place as the ledger.
type Index interface {
	// Claim stores entries under new ids, which it returns in their order. With an error it returns those that it has stored.
	Claim(ctx context.Context, entries ...recovery.Entry) (ids []string, err error)
	// Find returns the entry of an id, or recoveryErrNotFound.
	Find(ctx context.Context, id string) (recovery.Entry, error)
	// Release removes an id that was never shown to anybody.
	Release(ctx context.Context, id string)
}

// Files is the index in the state directory of this machine's user.
type Files struct{ recovery.Index }

// Claim implements Index.
func (f Files) Claim(_ context.Context, entries ...recovery.Entry) (ids []string, err error) {
	for _, e := range entries {
		id, err := f.Index.Claim(e)
		if err != nil {
			return ids, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// Find implements Index.
func (f Files) Find(_ context.Context, id string) (recovery.Entry, error) { return f.Index.Find(id) }

// Release implements Index.
func (f Files) Release(_ context.Context, id string) { f.Index.Release(id) }
