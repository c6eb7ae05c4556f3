//go:build tuning

package main

import (
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

const (
	foldGain  = 0.002 // the search ignores smaller gains of recall, because they are noise
	foldShare = 0.2   // the search maximizes the recall at this budget, a fraction of the tokens
)

// reportFolds cross-validates the ranking's parameters: it optimizes them on four fifths of the repositories and
// measures the recall on the last fifth. If the shipped parameters were far from an optimum, the optimized ones would
// have a higher recall on repositories that the search did not use.
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

// split divides the cases into those to train on and those held out. mine reports whether a case is held out.
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

// recallAt returns the mean recall at a budget of foldShare, 0 to 1.
func recallAt(cases []benchCase) float64 {
	sum := 0.0
	for i := range cases {
		sum += cases[i].score(ours(&cases[i], foldShare)).recall
	}
	return sum / float64(max(len(cases), 1))
}

// search halves and doubles one parameter after the other and keeps a change that raises the recall by more than
// foldGain. undo restores all parameters.
func search(cases []benchCase) (undo func()) {
	params := map[string]*float64{}
	collect(params, "", reflect.ValueOf(&doc.Ranking).Elem())
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

// collect adds pointers to the constants of the ranking by name.
func collect(params map[string]*float64, prefix string, v reflect.Value) {
	for i := range v.NumField() {
		name := prefix + v.Type().Field(i).Name
		if v.Field(i).Kind() == reflect.Struct {
			collect(params, name+".", v.Field(i))
			continue
		}
		params[name] = v.Field(i).Addr().Interface().(*float64)
	}
}

// vary multiplies a parameter by a factor. A parameter whose name ends in Before, After or Close is the fraction of a
// score that remains at the next line; its complement, the lost fraction, is multiplied instead.
func vary(name string, value, factor float64) float64 {
	switch name[len(name)-min(len(name), 5):] {
	case "efore", "after", "close":
		return 1 - (1-value)*factor
	}
	return value * factor
}
