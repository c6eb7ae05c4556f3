package main

import (
	"fmt"
	"io"
	"slices"

	"mcp-pruner/pruneclient/lineprune"
)

// folds is how many parts the repositories are cut into for cross-validation.
const folds = 5

// foldOf numbers the fold of every repository.
func foldOf(cases []benchCase) map[string]int {
	of := map[string]int{}
	for i, repo := range distinct(cases, func(c *benchCase) string { return c.Repo }) {
		of[repo] = i % folds
	}
	return of
}

// gated is how many of the strangers' questions the gate on confidence is to stop.
const gated = 0.98

// reportGate chooses the gate on confidence on four fifths of the repositories and
// tries it on the last. Logs are left out: a failure asked for is trusted to be there.
func reportGate(w io.Writer, cases []benchCase) {
	fmt.Fprintf(w, `### The gate on confidence, cross-validated

For every fold the gate is put where %.0f %% of such questions about the other folds' repositories (logs left out) stay below,
then tried on its own, beside the gate as shipped. Right questions below it come back whole too: that is its price.

| fold | gate | wrong questions below | right ones below | as shipped: wrong | right |
|---|---|---|---|---|---|
`, 100*gated)
	wrong, of := strangers(cases, true), foldOf(cases)
	asked := make([][2]lineprune.Result, len(cases))
	for i := range cases {
		asked[i] = [2]lineprune.Result{cases[i].pruned(cases[i].Question, lineprune.Options{}), cases[i].pruned(wrong[i], lineprune.Options{})}
	}
	for f := range folds {
		var elsewhere []float64
		var below, shipped [2][]float64
		for i := range cases {
			if of[cases[i].Repo] != f && asked[i][1].Kind != lineprune.Logs {
				elsewhere = append(elsewhere, asked[i][1].Confidence)
			}
		}
		slices.Sort(elsewhere)
		gate := 0.0
		if n := len(elsewhere); n > 0 {
			gate = elsewhere[min(n-1, int(gated*float64(n)))]
		}
		for i := range cases {
			if of[cases[i].Repo] != f || asked[i][1].Kind == lineprune.Logs {
				continue
			}
			for k, res := range asked[i] {
				below[k] = append(below[k], oneIf(res.Confidence < gate))
				shipped[k] = append(shipped[k], oneIf(slices.Contains(res.Warnings, lineprune.LowConfidence)))
			}
		}
		fmt.Fprintf(w, "| %d | %.2f | %.1f | %.1f | %.1f | %.1f |\n", f+1, gate,
			100*mean(below[1]), 100*mean(below[0]), 100*mean(shipped[1]), 100*mean(shipped[0]))
	}
	fmt.Fprintln(w)
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
