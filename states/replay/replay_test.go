package replay

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

func counted(in, write, read, out int) *sessions.Usage {
	return &sessions.Usage{Input: in, CacheWrite: write, CacheRead: read, Output: out}
}

// sample returns a session in which the agent reads a large file, writes about it, and edits one of its lines.
func sample(t *testing.T) (s sessions.Session) {
	t.Helper()
	require.NoError(t, sessions.ReadFile(t.Context(), "testdata/sample.jsonl", func(one sessions.Session) error {
		s = one
		return nil
	}))
	return s
}

func TestBillIsUsageTimesPrice(t *testing.T) {
	b := sessions.NewBill(sample(t), sessions.DefaultPrices)
	require.True(t, b.Measured)
	require.InDelta(t, 40*1+42600*1.25+22000*0.1+80*5, b.Total, 1e-6)
}

func TestWeightOfAResult(t *testing.T) {
	b := sessions.NewBill(sample(t), sessions.DefaultPrices)
	require.Equal(t, 1, b.Results[0].Call, "it first stands in the second prompt")
	require.InDelta(t, 1.25+0.1+1.25, b.Results[0].Weight, 1e-9, "written, read, and written again when the cache had expired")
}

func TestWeightEndsWithTheContext(t *testing.T) {
	s := sample(t)
	s.Steps = append(s.Steps[:8], append([]sessions.Step{{Kind: sessions.Compact}}, s.Steps[8:]...)...)
	require.InDelta(t, 1.25, sessions.NewBill(s, sessions.DefaultPrices).Results[0].Weight, 1e-9)
}

func TestUsageIsModelledWhereItIsMissing(t *testing.T) {
	s := sample(t)
	for i := range s.Steps {
		s.Steps[i].Usage = nil
	}
	b := sessions.NewBill(s, sessions.DefaultPrices)
	require.False(t, b.Measured)
	last := b.Calls[len(b.Calls)-1].Usage
	require.Equal(t, b.Calls[len(b.Calls)-2].Prompt, last.CacheRead, "everything older is read from the cache")
	require.Greater(t, b.Total, 0.0)
}

func TestNothingIsNeededAcrossACompaction(t *testing.T) {
	s := sample(t)
	s.Steps = append(s.Steps[:6], append([]sessions.Step{{Kind: sessions.Compact}}, s.Steps[6:]...)...)
	require.Empty(t, NeedsOf(sessions.NewBill(s, sessions.DefaultPrices))[0])
}

// TestReplayFollowsTheHookOnOtherTools checks that replay prunes the results of another server under the same setting
// as the hook and the proxy, and only where the agent can run a command: for the hook one that ran before.
func TestReplayFollowsTheHookOnOtherTools(t *testing.T) {
	s := sample(t)
	for i := range s.Steps {
		if s.Steps[i].ID == "a" {
			s.Steps[i].Tool = "mcp__files__page"
		}
	}
	command := []sessions.Step{{Kind: sessions.Use, ID: "c", Tool: "Bash"}, {Kind: sessions.Result, ID: "c", Tool: "Bash", Out: "ok"}}
	files := history.OtherTools{"files"}
	for _, c := range []struct {
		others        history.OtherTools
		before, after []sessions.Step
		hook, proxy   int
	}{
		{nil, command, nil, 0, 0}, {files, nil, nil, 0, 0}, {files, command, nil, 1, 1}, {files, nil, command, 0, 1},
	} {
		with := s
		with.Steps = slices.Concat(s.Steps[:1], c.before, s.Steps[1:], c.after)
		f, err := compute(context.Background(), with, Settings{Others: c.others}, []Policy{Hook, Proxy})
		require.NoError(t, err)
		require.Equal(t, c.hook, f.outcomes[Hook].Pruned, "%v", c)
		require.Equal(t, c.proxy, f.outcomes[Proxy].Pruned, "%v", c)
	}
}
