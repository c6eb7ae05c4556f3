package main

import (
	"bytes"
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

func TestWeightsSurviveWriting(t *testing.T) {
	names := []string{"never asked", "a: b", "c"}
	f := &learned.Forest{Base: -7, Trees: []learned.Tree{stump(2, 5), stump(1, -2)}}
	var out bytes.Buffer
	require.NoError(t, writeForest(&out, f, names, []string{"trained on sand"}))
	require.True(t, strings.HasPrefix(out.String(), "# trained on sand\nbase -7\nfeatures a: b|c\n1>5 - "), out.String())

	got, err := learned.ParseForest(out.String(), names)
	require.NoError(t, err)
	require.Equal(t, f, got)

	moved, err := learned.ParseForest(out.String(), []string{"c", "new", "a: b"})
	require.NoError(t, err, "features are known by name, so that new ones may be added")
	require.EqualValues(t, 0, moved.Trees[0].Nodes[0].Feature)
	require.EqualValues(t, 2, moved.Trees[1].Nodes[0].Feature)
}
