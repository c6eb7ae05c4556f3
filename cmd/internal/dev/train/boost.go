package main

import (
	"math"
	"slices"

	"mcp-pruner/pruneclient/lineprune/learned/trees"
)

// sample is lines with their features, in the order of their texts.
type sample struct {
	width  int
	rows   []int32
	gold   []bool
	weight []float64
}

func (s *sample) count() int { return len(s.gold) }

func (s *sample) row(i int) []int32 { return s.rows[i*s.width : (i+1)*s.width] }

// boosting is how trees are grown. The zero value is not useful; see defaults.
type boosting struct {
	trees    int
	rate     float64 // share of each tree's answer that is added
	bins     int
	minChild float64 // least weight of the lines in a leaf, in cases
	ridge    float64 // pulls leaves towards zero
	rowShare float64 // lines that each tree sees
	colShare float64 // features that each tree may ask about
}

var defaults = boosting{trees: 200, rate: 0.08, bins: 48, minChild: 1.5, ridge: 2, rowShare: 0.5, colShare: 0.3}

// grower grows a forest on one sample.
type grower struct {
	boosting
	s      *sample
	edges  [][]int32 // per feature, the thresholds between its bins
	binned []uint8   // a column per feature
	margin []float64 // per line, the score so far, natural logarithm
	random uint64
}

// grow returns the forest. The same sample always gives the same forest.
func grow(s *sample, b boosting) *trees.Forest {
	g := &grower{boosting: b, s: s, random: 1}
	g.bin()
	g.margin = make([]float64, s.count())
	base := g.base()
	for i := range g.margin {
		g.margin[i] = base
	}
	forest := &trees.Forest{Base: inBits(base)}
	for range b.trees {
		forest.Trees = append(forest.Trees, g.tree())
	}
	return forest
}

func inBits(v float64) int32 { return int32(math.Round(v / math.Ln2 * trees.Bit)) }

// base is the score that fits when nothing is known of a line.
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

// next is xorshift64*.
func (g *grower) next() float64 {
	g.random ^= g.random >> 12
	g.random ^= g.random << 25
	g.random ^= g.random >> 27
	return float64(g.random*2685821657736338717>>11) / (1 << 53)
}

// bin cuts every feature at quantiles of its distinct values.
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

// edgesOf returns at most bins-1 thresholds; a value belongs to the bin of the first
// edge that is not below it.
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
	if len(edges) < bins/2 { // a rare value may matter: give each its own bin
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

// line is a line that the tree being grown sees.
type line struct {
	index int32
	sums
}

// sums are the totals of a bin or a node.
type sums struct{ grad, hess, weight float64 }

func (a *sums) add(b sums) { a.grad += b.grad; a.hess += b.hess; a.weight += b.weight }

func (a sums) minus(b sums) sums { return sums{a.grad - b.grad, a.hess - b.hess, a.weight - b.weight} }

// tree grows one tree and adds its answers to the margins.
func (g *grower) tree() trees.Tree {
	var t trees.Tree
	for i := range t.Nodes {
		t.Nodes[i].Threshold = trees.Never
	}
	columns := g.columns()
	g.node(&t, 0, g.lines(), columns, nil)
	for i := range g.margin {
		g.margin[i] += float64(float64(t.Leaf[t.Reach(g.s.row(i))]) / trees.Bit * math.Ln2)
	}
	return t
}

// lines samples the lines of one tree, with the gradients of the logistic loss.
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

func (g *grower) columns() []int {
	var out []int
	for f := range g.s.width {
		if len(g.edges[f]) > 0 && g.next() < g.colShare {
			out = append(out, f)
		}
	}
	return out
}

// node grows the tree below node k, which the given lines come to. bins are the
// lines' sums by column and bin if they are known already.
func (g *grower) node(t *trees.Tree, k int, lines []line, columns []int, bins []sums) {
	if k >= trees.Inner {
		g.fillLeaf(t, k-trees.Inner, lines)
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
	t.Nodes[k] = trees.Node{Feature: int32(f), Threshold: g.edges[f][edge]}
	low, high := g.part(lines, f, edge)
	lowBins, highBins := []sums(nil), []sums(nil)
	if 2*k+1 < trees.Inner { // only the smaller side is summed up, the other is the rest
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

func rest(all, part []sums) []sums {
	out := make([]sums, len(all))
	for i := range out {
		out[i] = all[i].minus(part[i])
	}
	return out
}

// part moves the lines at or below an edge to the front, keeping their order.
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

// sumUp returns the sums of lines by column and bin.
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

// worth is what a leaf with these sums takes off the loss.
func (g *grower) worth(s sums) float64 { return float64(s.grad*s.grad) / (s.hess + g.ridge) }

// cut finds the edge that separates a node's lines best.
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

func (g *grower) fillLeaf(t *trees.Tree, leaf int, lines []line) {
	var total sums
	for _, l := range lines {
		total.add(l.sums)
	}
	t.Leaf[leaf] = inBits(g.rate * total.grad / (total.hess + g.ridge))
}
