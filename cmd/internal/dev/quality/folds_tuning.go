//go:build tuning

package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"mcp-pruner/pruneclient/lineprune/tuning"
)

const (
	foldGain  = 0.002 // smaller gains are noise, and not taken
	foldShare = 0.2   // the budget the search looks at
)

// reportFolds searches better parameters on four fifths of the repositories and
// tries them on the last. Were the parameters fitted to the cases, or far from an
// optimum, the searched ones would do better on repositories they have not seen.
func reportFolds(w io.Writer, cases []benchCase) {
	fmt.Fprintf(w, `## Cross-validation

For every fold the parameters are searched anew (each halved or doubled, one after the other, kept when the recall at
%.0f %% of the tokens grows) on the other folds' repositories, then tried on its own.

| fold | repositories | searched on: as shipped | searched | tried on: as shipped | searched |
|---|---|---|---|---|---|
`, 100*foldShare)
	of := foldOf(cases)
	var before, after []float64
	for f := range folds {
		train, held := split(cases, func(c *benchCase) bool { return of[c.Repo] == f })
		trainBefore, heldBefore := recallAt(train), recallAt(held)
		undo := search(train)
		trainAfter, heldAfter := recallAt(train), recallAt(held)
		undo()
		fmt.Fprintf(w, "| %d | %d | %.1f | %.1f | %.1f | %.1f |\n", f+1, len(distinct(held, func(c *benchCase) string { return c.Repo })),
			100*trainBefore, 100*trainAfter, 100*heldBefore, 100*heldAfter)
		before, after = append(before, heldBefore), append(after, heldAfter)
	}
	fmt.Fprintf(w, "| mean | | | | %.1f | %.1f |\n", 100*mean(before), 100*mean(after))
}

func split(cases []benchCase, mine func(*benchCase) bool) (train, held []benchCase) {
	for i := range cases {
		if mine(&cases[i]) {
			held = append(held, cases[i])
		} else {
			train = append(train, cases[i])
		}
	}
	return train, held
}

func recallAt(cases []benchCase) float64 {
	sum := 0.0
	for i := range cases {
		sum += cases[i].score(ours(&cases[i], foldShare)).recall
	}
	return sum / float64(max(len(cases), 1))
}

// search changes one parameter after the other where it helps, and returns how to
// put them back.
func search(cases []benchCase) (undo func()) {
	params := tuning.Parameters()
	saved := map[string]float64{}
	best := recallAt(cases)
	for _, name := range slices.Sorted(maps.Keys(params)) {
		p := params[name]
		saved[name] = *p
		for _, factor := range []float64{0.5, 2} {
			was := *p
			*p = vary(name, saved[name], factor)
			if r := recallAt(cases); r > best+foldGain {
				best = r
			} else {
				*p = was
			}
		}
	}
	return func() {
		for name, v := range saved {
			*params[name] = v
		}
	}
}

// vary halves or doubles a parameter; of a decay, what it takes away.
func vary(name string, value, factor float64) float64 {
	switch name[len(name)-min(len(name), 5):] {
	case "efore", "after", "close":
		return 1 - (1-value)*factor
	}
	return value * factor
}
