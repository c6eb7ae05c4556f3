package service

import (
	"sort"
	"strings"

	"mcp-pruner/pruneclient/lineprune"
	"mcp-pruner/pruneclient/recovery"
)

// choice is a set of lines on its way to a result. Lines count from 0 here.
type choice struct {
	lines []string
	keep  []bool
	kept  int
}

func newChoice(text string, protected []bool) *choice {
	t := recovery.NewText(text)
	c := &choice{lines: make([]string, t.Len()), keep: make([]bool, t.Len())}
	for i := range c.lines {
		c.lines[i] = t.Line(i + 1)
		if i < len(protected) && protected[i] {
			c.add(i)
		}
	}
	return c
}

func (c *choice) add(i int) {
	if !c.keep[i] {
		c.keep[i] = true
		c.kept++
	}
}

// solid counts the lines that are not blank.
func (c *choice) solid() int {
	n := 0
	for _, line := range c.lines {
		if !blank(line) {
			n++
		}
	}
	return n
}

// fill keeps the best lines, ties in text order, until want are kept.
func (c *choice) fill(better func(i, j int) bool, want int) {
	order := make([]int, len(c.lines))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return better(order[a], order[b]) })
	for _, i := range order {
		if c.kept >= want {
			return
		}
		c.add(i)
	}
}

// bridge keeps the gaps that are no longer than their marker.
func (c *choice) bridge(marker func(lineprune.Block) string) {
	for _, b := range c.gaps("") {
		size := 0
		for i := b.Start - 1; i < b.End; i++ {
			size += len(c.lines[i]) + 1
		}
		if len(marker(b))+1 < size {
			continue
		}
		for i := b.Start - 1; i < b.End; i++ {
			c.add(i)
		}
	}
}

// gaps are the ranges of lines that are not kept.
func (c *choice) gaps(reason string) []lineprune.Block {
	var blocks []lineprune.Block
	for i := 0; i < len(c.keep); i++ {
		if c.keep[i] {
			continue
		}
		start := i
		for i+1 < len(c.keep) && !c.keep[i+1] {
			i++
		}
		blocks = append(blocks, lineprune.Block{Start: start + 1, End: i + 1, Reason: reason})
	}
	return blocks
}

func (c *choice) result(kind lineprune.Kind, reason string) lineprune.Result {
	res := lineprune.Result{Kind: kind, Total: len(c.lines), Blocks: c.gaps(reason)}
	for i, k := range c.keep {
		if k {
			res.Kept = append(res.Kept, i+1)
		}
	}
	return res
}

// minKept is how many lines the caller's limits demand of n.
func (a PruneArgs) minKept(n int) int {
	return max(n-lineprune.MaxPruned(n, a.Options.MaxPruneRatio), min(n, a.Options.MinKeepLines))
}

func blank(line string) bool { return strings.TrimSpace(line) == "" }
