package service

import (
	"mcp-pruner/pruneclient/lineprune"
)

const (
	minRun  = 20 // lines that make a run worth folding
	runEdge = 3  // lines kept at both ends of a run

	repeated = "lignes répétitives"
)

// foldRuns shortens a text the question says nothing about. Choosing by relevance
// would be guessing, so what goes is only the inside of long runs of lines that
// differ in nothing but their numbers: one of them tells as much as all. whole is
// the untouched result; its warning stays, because it is still true.
func foldRuns(a PruneArgs, whole lineprune.Result, opts lineprune.Options) lineprune.Result {
	c := newChoice(a.Text, nil)
	allowed := len(c.lines) - a.minKept(len(c.lines))
	for i := range c.lines {
		c.add(i)
	}
	for start := 0; start < len(c.lines); {
		end := start + 1
		for end < len(c.lines) && sameShape(c.lines[start], c.lines[end]) {
			end++
		}
		if end-start >= minRun && allowed > 0 && !blank(c.lines[start]) {
			allowed -= c.drop(start+runEdge, min(end-runEdge, start+runEdge+allowed))
		}
		start = end
	}
	if opts.Marker != nil {
		c.bridge(opts.Marker)
	}
	res := c.result(whole.Kind, repeated)
	res.Confidence, res.Warnings = whole.Confidence, whole.Warnings
	return res
}

// drop stops keeping lines start to end-1 and says how many those are.
func (c *choice) drop(start, end int) int {
	for i := start; i < end; i++ {
		c.keep[i] = false
	}
	c.kept -= end - start
	return end - start
}

// sameShape says whether two lines differ in nothing but their numbers.
func sameShape(a, b string) bool {
	for i, j := 0, 0; ; {
		aDigits, bDigits := digits(a[i:]), digits(b[j:])
		if (aDigits > 0) != (bDigits > 0) {
			return false
		}
		i, j = i+aDigits, j+bDigits
		if i == len(a) || j == len(b) {
			return i == len(a) && j == len(b)
		}
		if aDigits == 0 {
			if a[i] != b[j] {
				return false
			}
			i, j = i+1, j+1
		}
	}
}

// digits is the length of the number at the start of s.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
