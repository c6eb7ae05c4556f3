package learned_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/learned"
)

// stump returns a tree with a single comparison and the leaves -1 and 1.
func stump(feature, threshold int32) learned.Tree {
	var t learned.Tree
	for i := range t.Nodes {
		t.Nodes[i].Threshold = learned.Never
	}
	t.Nodes[0] = learned.Node{Feature: feature, Threshold: threshold}
	for i := range t.Leaf {
		t.Leaf[i] = -1
		if i >= learned.Leaves/2 {
			t.Leaf[i] = 1
		}
	}
	return t
}

func TestScoreAddsUpLeaves(t *testing.T) {
	f := learned.Forest{Base: 10, Trees: []learned.Tree{stump(0, 5), stump(1, -2)}}
	require.EqualValues(t, 12, f.Score([]int32{6, 0}))
	require.EqualValues(t, 10, f.Score([]int32{5, 0}), "a threshold itself is not above it")
	require.EqualValues(t, 8, f.Score([]int32{5, -2}))
}

func TestBadWeightsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"base x\n":              "weights: base: ",
		"features a|gone\n":     `weights: no feature is called "gone": train again`,
		"features a\n0>1 2 3\n": "weights: tree 1: 3 fields instead of 63",
		"features a\n" + strings.Repeat("1>1 ", learned.InnerNodes) + strings.Repeat("0 ", learned.Leaves): `weights: tree 1: no feature "1"`,
	} {
		_, err := learned.ParseForest(text, []string{"a"})
		require.ErrorContains(t, err, want)
	}
}
