package learned

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

func TestEmbeddedWeightsCanBeRead(t *testing.T) {
	for _, f := range []*Forest{Embedded(false).Call, Embedded(true).Session} {
		require.NotEmpty(t, f.Trees)
		require.LessOrEqual(t, len(f.Trees), 300)
	}
	require.Less(t, len(callText)+len(sessionText), 600_000)
	require.Nil(t, Embedded(true).Call, "no call waits for weights that it does not need")
	require.Nil(t, Embedded(false).Session)
}

// TestOtherWeightsWithinASession checks that a known session selects the other forest.
func TestOtherWeightsWithinASession(t *testing.T) {
	in := inputOf("a\nb")
	w := &Weights{Call: &Forest{Base: 1}, Session: &Forest{Base: 2}}
	require.Equal(t, []int32{1, 1}, w.Rank(in).Scores)
	in.Events = []session.Event{{Kind: session.Say, Text: "hello"}}
	require.Equal(t, []int32{2, 2}, w.Rank(in).Scores)
}

func TestWhyNamesWhatRaisedTheScore(t *testing.T) {
	var tree Tree
	for i := range tree.Nodes {
		tree.Nodes[i].Threshold = Never
	}
	tree.Nodes[0] = Node{Feature: int32(asked)*perSource + fOwn, Threshold: 0}
	for i := Leaves / 2; i < Leaves; i++ {
		tree.Leaf[i] = 3 * OneBit / 2
	}
	in := inputOf("retries are counted\nnothing here\nand nothing there\nnor below")
	in.Question = "where are retries counted"
	r := (&Weights{Call: &Forest{Trees: []Tree{tree}}}).Rank(in)
	require.Equal(t, "words of the question (+1.5)", r.Why(0))
	require.Equal(t, "nothing speaks for it", r.Why(1))
}
