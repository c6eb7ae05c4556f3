package main

import (
	"context"
	"math/rand"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// budgets are the measured budgets: the largest fraction of a text's tokens that may be kept.
var budgets = []float64{0.1, 0.2, 0.3, 0.5}

// markerTokens is the size of a typical marker in tokens, counted with tokens.Line like all tokens here.
var markerTokens = tokens.Line(lineprune.ShortMarker(lineprune.Block{Start: 100, End: 200}))

// score holds the figures of one method on one case. All are from 0 to 1, except that paid can exceed 1.
type score struct {
	recall float64 // kept fraction of the gold lines
	all    float64 // 1 if every gold line was kept
	share  float64 // kept tokens as a fraction of the text's
	paid   float64 // tokens of kept lines and markers as a fraction of the text's
	whole  float64 // 1 if the text was returned whole
}

// score computes the figures of a choice of lines. kept holds 1-based line numbers, ascending.
func (c *benchCase) score(kept []int) score {
	have := make(map[int]bool, len(kept))
	used, gaps, last := 0, 0, 0
	for _, k := range kept {
		have[k] = true
		used += c.tokens[k-1]
		if k > last+1 {
			gaps++
		}
		last = k
	}
	if last < len(c.lines) {
		gaps++
	}
	found := 0
	for _, g := range c.Gold {
		if have[g] {
			found++
		}
	}
	s := score{recall: float64(found) / float64(len(c.Gold)), share: float64(used) / float64(c.total)}
	s.paid = float64(used+gaps*markerTokens) / float64(c.total)
	if found == len(c.Gold) {
		s.all = 1
	}
	if gaps == 0 {
		s.whole = 1
	}
	return s
}

// kept returns the 1-based numbers of the lines that the pruner keeps for a question, ascending.
func (c *benchCase) kept(question string, opts lineprune.Options) []int {
	return c.pruned(question, opts).Kept
}

func (c *benchCase) pruned(question string, opts lineprune.Options) lineprune.Result {
	res, err := lineprune.Prune(context.Background(), c.Text, question, c.SourceType, opts)
	if err != nil {
		panic(err) // the only error is a cancelled context, and this one is never cancelled
	}
	return res
}

// ours is the method of the line pruner.
func ours(c *benchCase, budget float64) []int {
	return c.kept(c.Question, lineprune.Options{Budget: budget})
}

// strange is the number of questions about other repositories that every text is asked.
const strange = 8

// strangers returns copies of the cases with questions about other repositories, of the same task. Some questions are
// asked in the same words about several repositories ("Why does the build fail?") and so fit any text. If named is set,
// they are left out.
func strangers(cases []benchCase, named bool) []benchCase {
	about := map[string]map[string]bool{} // the set of repositories by question
	for i := range cases {
		q := cases[i].Question
		if about[q] == nil {
			about[q] = map[string]bool{}
		}
		about[q][cases[i].Repo] = true
	}
	var out []benchCase
	for i, c := range cases {
		for step, n := 1, 0; step < len(cases) && n < strange; step++ {
			other := &cases[(i+step*37)%len(cases)]
			if other.Task == c.Task && other.Repo != c.Repo && (!named || len(about[other.Question]) == 1) {
				c.Question = other.Question
				out = append(out, c)
				n++
			}
		}
	}
	return out
}

// neighbours returns copies of the cases with questions about other files of the same repository. The questions are of
// the same task and differ from the case's own.
func neighbours(cases []benchCase) []benchCase {
	var out []benchCase
	for i, c := range cases {
		for step, n := 1, 0; step < len(cases) && n < near; step++ {
			other := &cases[(i+step*37)%len(cases)]
			sameFile := other.Text == c.Text || other.Meta.Path != "" && other.Meta.Path == cases[i].Meta.Path
			if other.Task == c.Task && other.Repo == c.Repo && !sameFile && other.Question != cases[i].Question {
				c.Question = other.Question
				out = append(out, c)
				n++
			}
		}
	}
	return out
}

// near is the number of questions about other files that every text is asked.
const near = 3

// interval is a mean and the limits of its 95 % bootstrap interval.
type interval struct{ mean, low, high float64 }

// estimate returns the mean of the values and its percentile interval (Efron and Tibshirani, An Introduction to the
// Bootstrap, 1993). repos[i] is the repository of values[i]. Whole repositories are resampled, because the cases of one
// repository are not independent.
func estimate(values []float64, repos []string) interval {
	groups := map[string][2]float64{}
	for i, v := range values {
		g := groups[repos[i]]
		groups[repos[i]] = [2]float64{g[0] + v, g[1] + 1}
	}
	names := make([]string, 0, len(groups))
	total := 0.0
	for name, g := range groups {
		names = append(names, name)
		total += g[0]
	}
	slices.Sort(names)
	const rounds = 1000
	r, means := rand.New(rand.NewSource(7)), make([]float64, rounds)
	for i := range means {
		sum, n := 0.0, 0.0
		for range names {
			g := groups[names[r.Intn(len(names))]]
			sum, n = sum+g[0], n+g[1]
		}
		means[i] = sum / n
	}
	slices.Sort(means)
	return interval{mean(values), means[rounds*25/1000], means[rounds*975/1000]}
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(len(values), 1))
}
