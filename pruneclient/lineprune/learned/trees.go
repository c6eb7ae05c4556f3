package learned

// depth is the number of comparisons on the way to a leaf. Each tree is stored as a heap: the children of
// node i are 2i+1 and 2i+2.
const (
	depth      = 5
	InnerNodes = 1<<depth - 1
	Leaves     = 1 << depth
)

// OneBit is one bit in the unit of leaves and scores.
const OneBit = 1024

// Node tests whether a feature is above a threshold. Where a tree is shallower than depth, the threshold is
// Never.
type Node struct {
	Feature   int32
	Threshold int32
}

// Never is a threshold that no feature exceeds.
const Never = 1<<31 - 1

// Tree is a decision tree of depth levels.
type Tree struct {
	Nodes [InnerNodes]Node
	Leaf  [Leaves]int32 // in 1024ths of a bit
}

// Reach returns the index of the leaf that a row of features leads to.
func (t *Tree) Reach(row []int32) int {
	i := 0
	for range depth {
		n := t.Nodes[i]
		i = 2*i + 1
		if row[n.Feature] > n.Threshold {
			i++
		}
	}
	return i - InnerNodes
}

// Forest is a sum of trees and a constant.
type Forest struct {
	Base  int32
	Trees []Tree
}

// Score returns the sum over all trees and the constant, in 1024ths of a bit.
func (f *Forest) Score(row []int32) int32 {
	sum := f.Base
	for k := range f.Trees {
		sum += f.Trees[k].Leaf[f.Trees[k].Reach(row)]
	}
	return sum
}
