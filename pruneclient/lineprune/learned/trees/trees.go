// Package trees adds up small decision trees over integer features. Thresholds, leaves
// and sums are integers, so every machine gets the same score.
package trees

// Depth is how many questions a tree asks; each tree is laid out as a heap.
const (
	Depth  = 5
	Inner  = 1<<Depth - 1
	Leaves = 1 << Depth
)

// Bit is one bit in the unit of leaves and scores.
const Bit = 1024

// Node asks whether a feature is above a threshold. Where a tree is shallower than
// Depth, the threshold is Never.
type Node struct {
	Feature   int32
	Threshold int32
}

// Never is a threshold that no feature is above.
const Never = 1<<31 - 1

// Tree is a decision tree of Depth questions.
type Tree struct {
	Nodes [Inner]Node
	Leaf  [Leaves]int32 // 1024ths of a bit
}

// Reach returns the leaf that a row of features comes to.
func (t *Tree) Reach(row []int32) int {
	i := 0
	for range Depth {
		n := t.Nodes[i]
		i = 2*i + 1
		if row[n.Feature] > n.Threshold {
			i++
		}
	}
	return i - Inner
}

// Forest is the sum of its trees and a constant.
type Forest struct {
	Base  int32
	Trees []Tree
}

// Score returns the sum over all trees, in 1024ths of a bit.
func (f *Forest) Score(row []int32) int32 {
	sum := f.Base
	for k := range f.Trees {
		sum += f.Trees[k].Leaf[f.Trees[k].Reach(row)]
	}
	return sum
}
