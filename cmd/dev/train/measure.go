package main

import (
	"math/rand"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// marker is the number of tokens counted for each omitted range, as in sessionbench/score.py.
const marker = 16

// outcome holds the figures of one choice of lines.
type outcome struct {
	group  string
	recall float64 // kept fraction of the gold lines
	tokens float64 // kept tokens as a fraction of the text's
	paid   float64 // tokens of kept lines and markers as a fraction of the text's
	whole  bool    // every line was kept
}

// judge computes the figures of a choice with the rules of sessionbench/score.py. keep has one entry per line.
func judge(e *example, lines []string, keep []bool) outcome {
	hit, used, total, gaps, gold := 0, 0, 0, 0, e.isGold(len(lines))
	all := 0
	for i, line := range lines {
		n := tokens.Line(line)
		total += n
		if gold[i] {
			all++
		}
		switch {
		case keep[i]:
			used += n
			if gold[i] {
				hit++
			}
		case i == 0 || keep[i-1]:
			gaps++
		}
	}
	share := func(n int) float64 { return float64(n) / float64(max(total, 1)) }
	return outcome{e.group, float64(hit) / float64(max(all, 1)), share(used), share(used + marker*gaps), gaps == 0}
}

// mean is a mean in per cent and the limits of its 95 % interval.
type mean struct{ value, low, high float64 }

// resamples is the number of bootstrap samples.
const resamples = 1000

// meanOf returns the mean of a figure and its percentile interval (Efron and Tibshirani, An Introduction to the
// Bootstrap, 1993). Whole groups are resampled, because cases of one session or one repository are not independent.
func meanOf(outcomes []outcome, value func(outcome) float64) mean {
	index, sums := map[string]int{}, [][2]float64{}
	for _, o := range outcomes {
		k, ok := index[o.group]
		if !ok {
			k = len(sums)
			index[o.group] = k
			sums = append(sums, [2]float64{})
		}
		sums[k][0] += value(o)
		sums[k][1]++
	}
	if len(sums) == 0 {
		return mean{}
	}
	random := rand.New(rand.NewSource(7))
	ratio := func(pick func(int) int) float64 {
		a, b := 0.0, 0.0
		for i := range sums {
			s := sums[pick(i)]
			a, b = a+s[0], b+s[1]
		}
		return 100 * a / b
	}
	var values []float64
	for range resamples {
		values = append(values, ratio(func(int) int { return random.Intn(len(sums)) }))
	}
	slices.Sort(values)
	return mean{ratio(func(i int) int { return i }), values[resamples*25/1000], values[resamples*975/1000]}
}

func recallOf(o outcome) float64 { return o.recall }

func paidOf(o outcome) float64 { return o.paid }

func tokensOf(o outcome) float64 { return o.tokens }

func wholeOf(o outcome) float64 {
	if o.whole {
		return 1
	}
	return 0
}

// differences subtracts the outcomes a from the outcomes b of the same cases, in the same order. It fills recall and
// paid only.
func differences(a, b []outcome) []outcome {
	out := make([]outcome, len(a))
	for i := range a {
		out[i] = outcome{group: a[i].group, recall: b[i].recall - a[i].recall, paid: b[i].paid - a[i].paid}
	}
	return out
}

// pruned returns the outcomes of the texts that were not returned whole.
func pruned(outcomes []outcome) []outcome {
	var out []outcome
	for _, o := range outcomes {
		if !o.whole {
			out = append(out, o)
		}
	}
	return out
}
