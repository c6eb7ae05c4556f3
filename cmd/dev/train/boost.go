package main

import (
	"math"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/learned"
)

// sample holds the lines to learn from, in the order of their texts.
type sample struct {
	width  int       // number of features
	rows   []int32   // width features per line
	gold   []bool    // per line
	weight []float64 // per line
}

// count returns the number of lines.
func (s *sample) count() int { return len(s.gold) }

// row returns the features of line i.
func (s *sample) row(i int) []int32 { return s.rows[i*s.width : (i+1)*s.width] }

// boosting holds the parameters of gradient boosting. The zero value is not useful; see defaults.
type boosting struct {
	trees    int
	rate     float64 // learning rate: the factor of each tree's output
	bins     int     // largest number of bins per feature
	minChild float64 // smallest weight of the lines on each side of a split; the gold lines of one case weigh 1 in all
	ridge    float64 // added to the sum of second derivatives; moves the values of leaves towards 0
	rowShare float64 // fraction of the lines that each tree is grown on
	colShare float64 // fraction of the features that each tree may test
}

var defaults = boosting{trees: 200, rate: 0.08, bins: 48, minChild: 1.5, ridge: 2, rowShare: 0.5, colShare: 0.3}

// grower grows a forest on one sample by stochastic gradient boosting with the logistic loss (Friedman, Greedy Function
// Approximation, 2001, and Stochastic Gradient Boosting, 2002). Splits and leaves are chosen with second derivatives
// (Chen and Guestrin, XGBoost, 2016).
type grower struct {
	boosting
	s      *sample
	edges  [][]int32 // per feature, the thresholds between its bins
	binned []uint8   // the bin of each line: one column of count() entries per feature
	margin []float64 // per line, the log odds (natural logarithm) by the trees so far
	random uint64    // state of next
}

// grow returns the forest. The same sample always gives the same forest.
func grow(s *sample, b boosting) *learned.Forest {
	g := &grower{boosting: b, s: s, random: 1}
	g.bin()
	g.margin = make([]float64, s.count())
	base := g.base()
	for i := range g.margin {
		g.margin[i] = base
	}
	forest := &learned.Forest{Base: inBits(base)}
	for range b.trees {
		forest.Trees = append(forest.Trees, g.tree())
	}
	return forest
}

// inBits converts a natural logarithm to the unit of leaves and scores, 1/learnedBit of a bit.
func inBits(v float64) int32 { return int32(math.Round(v / math.Ln2 * learned.OneBit)) }

// base returns the log odds (natural logarithm) of a gold line in the whole sample, by weight. All margins start with
// it.
func (g *grower) base() float64 {
	gold, rest := 0.0, 0.0
	for i, w := range g.s.weight {
		if g.s.gold[i] {
			gold += w
		} else {
			rest += w
		}
	}
	return math.Log(gold / rest)
}

// next returns a random number from 0 up to, but not including, 1. The generator is xorshift64* (Vigna, An Experimental
// Exploration of Marsaglia's xorshift Generators, Scrambled, 2016).
func (g *grower) next() float64 {
	g.random ^= g.random >> 12
	g.random ^= g.random << 25
	g.random ^= g.random >> 27
	return float64(g.random*2685821657736338717>>11) / (1 << 53)
}

// bin divides every feature into bins at quantiles of its values, taken from evenly spaced lines, at most 60,000 of
// them.
func (g *grower) bin() {
	n := g.s.count()
	g.edges, g.binned = make([][]int32, g.s.width), make([]uint8, n*g.s.width)
	values := make([]int32, 0, n)
	for f := range g.s.width {
		values = values[:0]
		for i := 0; i < n; i += 1 + n/60000 {
			values = append(values, g.s.rows[i*g.s.width+f])
		}
		g.edges[f] = edgesOf(values, g.bins)
		column := g.binned[f*n : (f+1)*n]
		for i := range column {
			k, _ := slices.BinarySearch(g.edges[f], g.s.rows[i*g.s.width+f])
			column[i] = uint8(k)
		}
	}
}

// edgesOf returns at most bins-1 thresholds, ascending. Bin k holds the values v with edges[k-1] < v <= edges[k]. It
// sorts values in place.
func edgesOf(values []int32, bins int) []int32 {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	var edges []int32
	for k := 1; k < bins; k++ {
		v := values[k*(len(values)-1)/bins]
		if v < values[len(values)-1] && (len(edges) == 0 || edges[len(edges)-1] < v) {
			edges = append(edges, v)
		}
	}
	if len(edges) < bins/2 { // the quantiles would merge rare values, which may matter: give each value its own bin
		edges = edges[:0]
		for _, v := range slices.Compact(values) {
			if len(edges) < bins-1 {
				edges = append(edges, v)
			}
		}
		edges = edges[:max(len(edges)-1, 0)]
	}
	return edges
}

// line is one of the lines that the current tree is grown on, with its derivatives and its weight.
type line struct {
	index int32
	sums
}

// sums holds the derivatives and the weight of one line, or their totals over a bin or a node. grad is the negative
// first derivative of the loss by the margin, hess the second.
type sums struct{ grad, hess, weight float64 }

func (a *sums) add(b sums) { a.grad += b.grad; a.hess += b.hess; a.weight += b.weight }

func (a sums) minus(b sums) sums { return sums{a.grad - b.grad, a.hess - b.hess, a.weight - b.weight} }

// tree grows one tree and adds its outputs to the margins of all lines.
func (g *grower) tree() learned.Tree {
	var t learned.Tree
	for i := range t.Nodes {
		t.Nodes[i].Threshold = learned.Never
	}
	columns := g.columns()
	g.node(&t, 0, g.lines(), columns, nil)
	for i := range g.margin {
		g.margin[i] += float64(float64(t.Leaf[t.Reach(g.s.row(i))]) / learned.OneBit * math.Ln2)
	}
	return t
}

// lines draws the lines for one tree and computes their derivatives of the logistic loss: with probability p, label y
// and weight w these are w(y-p) and wp(1-p).
func (g *grower) lines() []line {
	out := make([]line, 0, len(g.margin))
	for i, m := range g.margin {
		if g.next() >= g.rowShare {
			continue
		}
		p, y, w := 1/(1+math.Exp(-m)), 0.0, g.s.weight[i]
		if g.s.gold[i] {
			y = 1
		}
		out = append(out, line{int32(i), sums{float64(w * (y - p)), float64(w * float64(p*(1-p))), w}})
	}
	return out
}

// columns draws the features for one tree. Features with a single value are left out.
func (g *grower) columns() []int {
	var out []int
	for f := range g.s.width {
		if len(g.edges[f]) > 0 && g.next() < g.colShare {
			out = append(out, f)
		}
	}
	return out
}

// node grows the part of the tree below node k. lines are the lines that reach the node. bins holds their sums, g.bins
// entries for each of the columns; nil if they are not computed yet.
func (g *grower) node(t *learned.Tree, k int, lines []line, columns []int, bins []sums) {
	if k >= learned.InnerNodes {
		g.fillLeaf(t, k-learned.InnerNodes, lines)
		return
	}
	if bins == nil {
		bins = g.sumUp(lines, columns)
	}
	gain, edge, column := 0.0, 0, -1
	for c, f := range columns {
		if v, e := g.cut(bins[c*g.bins:(c+1)*g.bins], len(g.edges[f])); v > gain {
			gain, edge, column = v, e, c
		}
	}
	if column < 0 {
		g.node(t, 2*k+1, lines, columns, bins)
		return
	}
	f := columns[column]
	t.Nodes[k] = learned.Node{Feature: int32(f), Threshold: g.edges[f][edge]}
	low, high := g.part(lines, f, edge)
	lowBins, highBins := []sums(nil), []sums(nil)
	if 2*k+1 < learned.InnerNodes { // the larger side's sums are the node's less the smaller side's
		if len(low) < len(high) {
			lowBins = g.sumUp(low, columns)
			highBins = rest(bins, lowBins)
		} else {
			highBins = g.sumUp(high, columns)
			lowBins = rest(bins, highBins)
		}
	}
	g.node(t, 2*k+1, low, columns, lowBins)
	g.node(t, 2*k+2, high, columns, highBins)
}

// rest returns all less part, entry by entry.
func rest(all, part []sums) []sums {
	out := make([]sums, len(all))
	for i := range out {
		out[i] = all[i].minus(part[i])
	}
	return out
}

// part divides lines at an edge of feature f: low holds those with a value up to the edge, high the others, both in
// their order. low reuses the memory of lines.
func (g *grower) part(lines []line, f, edge int) (low, high []line) {
	column := g.binned[f*g.s.count():]
	for _, l := range lines {
		if int(column[l.index]) > edge {
			high = append(high, l)
		}
	}
	low = lines[:0]
	for _, l := range lines {
		if int(column[l.index]) <= edge {
			low = append(low, l)
		}
	}
	return low, high
}

// sumUp returns the lines' sums by column and bin, g.bins entries for each column.
func (g *grower) sumUp(lines []line, columns []int) []sums {
	out := make([]sums, len(columns)*g.bins)
	n := g.s.count()
	for c, f := range columns {
		bins, column := out[c*g.bins:(c+1)*g.bins], g.binned[f*n:(f+1)*n]
		for i := range lines {
			bins[column[lines[i].index]].add(lines[i].sums)
		}
	}
	return out
}

// worth returns twice the reduction of the regularized loss by a leaf with these sums: G²/(H+λ) with the ridge λ
// (XGBoost, equation 6).
func (g *grower) worth(s sums) float64 { return float64(s.grad*s.grad) / (s.hess + g.ridge) }

// cut returns the edge with the highest gain between a node's lines, and the gain: twice the difference of XGBoost's
// equation 7, without a penalty per leaf. bins holds the sums of one feature, edges is its number of edges. The gain is
// 0 if no split is possible or none is better.
func (g *grower) cut(bins []sums, edges int) (gain float64, edge int) {
	var all, low sums
	for _, b := range bins {
		all.add(b)
	}
	whole := g.worth(all)
	for e := range edges {
		low.add(bins[e])
		high := all.minus(low)
		if low.weight < g.minChild || high.weight < g.minChild {
			continue
		}
		if v := g.worth(low) + g.worth(high) - whole; v > gain+1e-9 {
			gain, edge = v, e
		}
	}
	return gain, edge
}

// fillLeaf sets a leaf to the learning rate times G/(H+λ), which minimizes the loss (XGBoost, equation 5).
func (g *grower) fillLeaf(t *learned.Tree, leaf int, lines []line) {
	var total sums
	for _, l := range lines {
		total.add(l.sums)
	}
	t.Leaf[leaf] = inBits(g.rate * total.grad / (total.hess + g.ridge))
}
