package ledger

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest"
)

func open(t *testing.T) contextgc.Ledger {
	t.Helper()
	store, err := store.OpenLedger(store.LedgerFile{File: filepath.Join(t.TempDir(), "ledger.db")})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	return store
}

func TestDeliveriesBecomeSegments(t *testing.T) {
	store := open(t)
	o := Observer{Store: store, Project: "p", Failed: func(err error) { t.Error(err) }}
	sent := states.Delivery{Call: tooltest.Func(nil), Wire: 10, Session: "ses_1", Tool: "read", Text: "one\ntwo\n",
		Source: tools.Source{File: "a.go", FirstLine: 5}, Subject: tools.Subject{Path: "a.go", Part: true}}
	o.Ended(&sent)
	unsent := sent
	unsent.Err = errors.New("gone")
	o.Ended(&unsent)
	own := sent
	own.Tool = "context_get"
	o.Ended(&own)
	all, err := store.List(context.Background(), contextgc.Filter{Project: "p", Tier: contextgc.Working})
	require.NoError(t, err)
	require.Len(t, all, 1)
	s := all[0]
	assert.Equal(t, []any{contextgc.Code, "a.go", 5, 6, "ses_1", "read"}, []any{s.Type, s.Path, s.FirstLine, s.LastLine, s.Session, s.Tool})
	assert.Positive(t, s.Tokens)
	_, text, err := store.Get(context.Background(), contextgc.Reference{Project: "p", ID: s.ID})
	require.NoError(t, err)
	assert.Equal(t, "one\ntwo\n", text)
}

// The next request of a connection waits for the observer, and a team's database may be slow: it stores later, and of a team what was
// cut.
func TestADatabaseIsNotWaitedFor(t *testing.T) {
	store := &slowStore{Ledger: open(t), goesOn: make(chan struct{})}
	o := Observer{Store: store, Queue: New(store, func(err error) { t.Error(err) }), CutOnly: true, Project: "p"}
	for _, id := range []string{"", "prn_1", "", "prn_2"} {
		o.Ended(&states.Delivery{Call: tooltest.Func(nil), Wire: 10, Tool: "read", Text: "text of " + id, PruneID: id})
	}
	close(store.goesOn)
	o.Queue.Close(time.Minute)
	all, err := store.List(context.Background(), contextgc.Filter{Project: "p", Tier: contextgc.Working})
	require.NoError(t, err)
	assert.Len(t, all, 2)
}

// slowStore stores nothing until it may go on.
type slowStore struct {
	contextgc.Ledger
	goesOn chan struct{}
}

func (s *slowStore) Put(ctx context.Context, entries ...contextgc.Entry) ([]string, error) {
	<-s.goesOn
	return s.Ledger.Put(ctx, entries...)
}

func TestClosingStoresWhatWaits(t *testing.T) {
	store := open(t)
	l := New(store, func(err error) { t.Error(err) })
	l.Add(contextgc.Entry{Text: "x", Segment: contextgc.Segment{Project: "p"}})
	l.AddUsage(contextgc.Usage{Session: "s", Input: 3, Before: 10, After: 9})
	l.AddUsage(contextgc.Usage{Session: "s", Input: 4, Before: 30, After: 20})
	l.Close(time.Minute)
	all, err := store.List(context.Background(), contextgc.Filter{Project: "p", Tier: contextgc.Working})
	require.NoError(t, err)
	assert.Len(t, all, 1)
	list, err := store.Usages(context.Background())
	require.NoError(t, err)
	require.Len(t, list, 1)
	assert.Equal(t, []any{2, 7, 30.0, 20.0}, []any{list[0].Calls, list[0].Input, list[0].Before, list[0].After})
	assert.InDelta(t, 1.0/3, list[0].Saved(), 1e-9)
}

// A delivery is stored for the subject that called, although it is stored after the call.
func TestDeliveriesHaveTheirSubject(t *testing.T) {
	store := &lastEntry{}
	Observer{Store: store, Project: "p"}.Ended(&states.Delivery{Owner: "ann", Call: tooltest.Func(nil), Wire: 10, Tool: "read", Text: "one"})
	assert.Equal(t, "ann", store.Subject)
}

// lastEntry is a ledger that has the entry stored last.
type lastEntry struct {
	contextgc.Segments
	contextgc.Entry
}

func (l *lastEntry) Put(_ context.Context, entries ...contextgc.Entry) ([]string, error) {
	l.Entry = entries[len(entries)-1]
	return nil, nil
}
