package assemble

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// oneID has one id and counts the questions.
type oneID struct{ asked int }

const right = "prn_0123abcd"

func (f *oneID) Find(_ context.Context, id string) (recovery.Entry, error) {
	f.asked++
	if id != right {
		return recovery.Entry{}, recovery.ErrNotFound
	}
	return recovery.Entry{}, nil
}

// A subject that tries ids through the tools of the ledger is soon answered without a question to the database. Numbers of
// segments are no such ids, and other subjects notice nothing.
func TestWrongIDsOfTheLedgerAreLimited(t *testing.T) {
	index := &oneID{}
	var told []string
	l := limited{index, &recovery.Misses{}, func(m string) { told = append(told, m) }}
	mallory, ann := agent.WithSubject(t.Context(), "mallory"), agent.WithSubject(t.Context(), "ann")
	for i := range 2000 {
		_, err := l.Find(mallory, fmt.Sprintf("s%d", i+1))
		require.ErrorIs(t, err, recovery.ErrNotFound)
	}
	_, err := l.Find(mallory, right)
	require.NoError(t, err)
	for i := range 10_000 {
		_, err := l.Find(mallory, fmt.Sprintf("prn_%08x", i))
		require.ErrorIs(t, err, recovery.ErrNotFound)
	}
	assert.Less(t, index.asked, 5000, "a minute has one limit, and the test may span two")
	assert.NotEmpty(t, told)
	_, err = l.Find(ann, right)
	require.NoError(t, err)
	_, err = l.Find(t.Context(), right)
	require.NoError(t, err)
}
