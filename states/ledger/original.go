package ledger

import (
	"context"
	"crypto/sha256"
	"errors"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// Index returns the index of originals in the user's state directory. Without such a directory its State is "", and no
// id can be claimed or found.
func Index(lookup func(string) (string, bool)) recovery.Index {
	dir, _ := files.StateDir(lookup)
	return recovery.Index{State: dir}
}

// Printed returns what was printed of originals on this machine a short time ago.
func Printed(lookup func(string) (string, bool)) recovery.Printed {
	return recovery.Printed{State: Index(lookup).State}
}

// Finder finds the entry of an id that an agent was shown.
type Finder interface {
	Find(ctx context.Context, id string) (recovery.Entry, error)
}

// Shown returns a function that finds the hash of a text in a ledger's file by the id that an agent was shown, for an
// agent that works in a folder.
func Shown(index Finder, file, folder string) func(ctx context.Context, id string) (sum [sha256.Size]byte, ok bool) {
	return func(ctx context.Context, id string) (sum [sha256.Size]byte, ok bool) {
		e, err := index.Find(ctx, id)
		return e.Sum(), err == nil && e.Ledger == file && e.MayBeReadIn(folder)
	}
}

// Original returns the text with an id that an agent was shown, from whichever store has it, and the number of its first
// line. folder is where the agent works: it is given texts of its own project only. Original changes no file. It returns
// recoveryErrNotFound if no store has the text, and archive.ErrElsewhere if it is another project's.
func Original(ctx context.Context, index recovery.Index, folder, id string) (text string, first int, err error) {
	e, err := index.Find(id)
	if err == nil && e.Ledger != "" {
		text, err = store.ReadLedger(e.Ledger).Text(ctx, e.Sum())
		switch {
		case errors.Is(err, contextgc.ErrNotFound):
			err = recovery.ErrNotFound
		case err == nil && !e.MayBeReadIn(folder):
			return "", 0, recovery.ErrElsewhere
		}
		return text, e.FirstLine(), err
	}
	return recovery.ArchiveIn(index.State).Get(id, folder)
}
