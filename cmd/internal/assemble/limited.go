package assemble

import (
	"context"
	"errors"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// limited finds the ids that agents ask the ledger for, under the limit of wrong ids that the recovery store has. A proxy, which
// looks up what its histories have, is not limited: the ids of a hook on another machine come again with every request.
type limited struct {
	ledger.Finder
	misses *recovery.Misses
	report func(message string)
}

// Find returns the entry of an id, or recoveryErrNotFound.
func (l limited) Find(ctx context.Context, id string) (recovery.Entry, error) {
	if !recovery.IDPattern().MatchString(id) {
		return recovery.Entry{}, recovery.ErrNotFound // the number of a segment
	}
	owner := agent.SubjectOf(ctx)
	if l.misses.Exceeded(owner, time.Now()) {
		return recovery.Entry{}, recovery.ErrNotFound
	}
	e, err := l.Finder.Find(ctx, id)
	if errors.Is(err, recovery.ErrNotFound) {
		l.misses.Add(owner, l.report)
	}
	return e, err
}
