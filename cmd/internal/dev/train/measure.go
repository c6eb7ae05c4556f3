package main

import (
	"math/rand"
	"slices"

	"mcp-pruner/pruneclient/lineprune"
)

// marker is what an omitted range costs in tokens, as sessionbench/score.py charges it.
const marker = 16

// outcome is what a choice of lines costs and keeps, as shares of the text's tokens
// and of the lines that were used.
type outcome struct {
	group  string
	recall float64
	tokens float64
	paid   float64 // tokens and markers
	whole  bool
}

// judge measures a choice as sessionbench/score.py does.
func judge(e *example, lines []string, keep []bool) outcome {
	hit, used, total, gaps, gold := 0, 0, 0, 0, e.isGold(len(lines))
	all := 0
	for i, line := range lines {
		n := lineprune.CountTokens(line)
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

// mean is a figure in percent with its 95 % interval.
type mean struct{ value, low, high float64 }

// resamples of the bootstrap.
const resamples = 1000

// meanOf bootstraps over groups: cases of one session, or of one repository, are not
// independent.
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

// differences pairs two lists of outcomes of the same cases.
func differences(a, b []outcome) []outcome {
	out := make([]outcome, len(a))
	for i := range a {
		out[i] = outcome{group: a[i].group, recall: b[i].recall - a[i].recall, paid: b[i].paid - a[i].paid}
	}
	return out
}

// pruned are the outcomes of texts that did not come back whole.
func pruned(outcomes []outcome) []outcome {
	var out []outcome
	for _, o := range outcomes {
		if !o.whole {
			out = append(out, o)
		}
	}
	return out
}
