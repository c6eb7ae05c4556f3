package clearing

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// decisionsOnly is a ledger with a chain of decisions, each with the number of the one before it as its parent. It says which
// were read.
type decisionsOnly struct {
	contextgc.Ledger
	after int64 // the argument of Clearings
	read  [][32]byte
	away  error
}

func (d *decisionsOnly) Lost() bool                          { return false }
func (d *decisionsOnly) Last(context.Context) (int64, error) { return 1_000_000, d.away }

func (d *decisionsOnly) Clearings(_ context.Context, after int64) ([]contextgc.Clearing, int64, map[[32]byte]bool, error) {
	d.after = after
	return nil, after, nil, d.away
}

func (d *decisionsOnly) Count(context.Context, int64) (int64, error) { return 0, d.away }

func (d *decisionsOnly) Heads(_ context.Context, marks [][32]byte) (map[[32]byte][32]byte, error) {
	return map[[32]byte][32]byte{marks[0]: {3}}, d.away
}

func (d *decisionsOnly) Chain(_ context.Context, ids [][32]byte) (list []contextgc.Clearing, err error) {
	d.read = append(d.read, ids...)
	for n := ids[0][0]; n > 0; n-- {
		list = append(list, contextgc.Clearing{Item: [32]byte{100 + n}, Since: [32]byte{n}, Parent: [32]byte{n - 1}, Stub: "[cleared]"})
	}
	return list, d.away
}

// TestStartReadsNoDecisions: however many there are, a start reads none of them; a history's are read when it comes, once, and
// then apply while the ledger is away. A mark whose decisions could not be read stays unknown.
func TestStartReadsNoDecisions(t *testing.T) {
	store := &decisionsOnly{}
	e := &Engine{Store: store, Now: time.Now}
	require.NoError(t, e.Load(t.Context()))
	assert.Equal(t, int64(1_000_000), store.after)
	assert.Empty(t, e.groups)

	marks := [][]wire.Key{{{7}}}
	store.away = errors.New("away")
	_, err := e.lookup(t.Context(), marks)
	require.Error(t, err)
	heads, unknown := e.recall(marks)
	assert.Empty(t, heads)
	assert.Len(t, unknown, 1)

	store.away = nil
	heads, err = e.lookup(t.Context(), marks)
	require.NoError(t, err)
	assert.Equal(t, map[wire.Key]wire.Key{{7}: {3}}, heads)
	assert.Len(t, e.groups, 3)
	_, err = e.lookup(t.Context(), [][]wire.Key{{{8}}})
	require.NoError(t, err)
	assert.Equal(t, [][32]byte{{3}}, store.read, "the second mark leads to decisions in memory")

	delete(e.groups, wire.Key{1})
	_, err = e.lookup(t.Context(), [][]wire.Key{{{9}}})
	require.NoError(t, err)
	assert.Equal(t, [][32]byte{{3}, {1}}, store.read, "only the part of the chain that is missing")
}

// slowLedger stores originals however late it is.
type slowLedger struct {
	contextgc.Ledger
	stored []int
}

func (s *slowLedger) Put(_ context.Context, entries ...contextgc.Entry) (ids []string, err error) {
	s.stored = append(s.stored, len(entries))
	return make([]string, len(entries)), nil
}

// A request that has no time left stores some of its originals, and leaves the rest to Flush.
func TestWhatARequestCannotWaitForIsStoredAfterIt(t *testing.T) {
	store := &slowLedger{}
	e := &Engine{Store: store, Now: time.Now}
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	for _, n := range []int{putAtOnce, 3*putAtOnce + 1} {
		changes := make([]change, n)
		for i := range changes {
			changes[i].result = &wire.Result{Thought: true}
		}
		err := (&walk{Engine: e, Conversation: &wire.Conversation{}}).keep(late, "", changes)
		assert.Equal(t, n > putAtOnce, errors.Is(err, errLater))
	}
	require.NoError(t, e.Flush(t.Context()))
	assert.Equal(t, []int{100, 100, 100, 100, 1}, store.stored)
	require.NoError(t, e.Flush(t.Context()))
	assert.Len(t, store.stored, 5)
}
