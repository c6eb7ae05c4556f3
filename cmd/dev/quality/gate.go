package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
)

// folds is the number of folds for cross-validation over repositories.
const folds = 5

// foldOf assigns the repositories to folds in turn, in the order of their names. The result is the fold by repository.
func foldOf(cases []benchCase) map[string]int {
	of := map[string]int{}
	for i, repo := range distinct(cases, func(c *benchCase) string { return c.Repo }) {
		of[repo] = i % folds
	}
	return of
}

// gated is the fraction of questions about other repositories that should be below the confidence threshold.
const gated = 0.98

// reportGate cross-validates the confidence threshold below which a text is returned whole: it chooses the threshold on
// four fifths of the repositories and measures it on the last fifth. Logs are left out, because the pruner assumes that
// a log has the failure that is asked for.
func reportGate(w io.Writer, cases []benchCase) {
	fmt.Fprintf(w, `### The gate on confidence, cross-validated

For every fold the gate is put where %.0f %% of such questions about the other folds' repositories (logs left out) stay below,
then tried on its own, beside the gate as shipped. Right questions below it come back whole too: that is its price.

| fold | gate | wrong questions below | right ones below | as shipped: wrong | right |
|---|---|---|---|---|---|
`, 100*gated)
	of := foldOf(cases)
	right, wrong := verdicts(cases), verdicts(strangers(cases, true))
	for f := range folds {
		var elsewhere []float64
		for _, v := range wrong {
			if of[v.repo] != f {
				elsewhere = append(elsewhere, v.confidence)
			}
		}
		slices.Sort(elsewhere)
		gate := 0.0
		if n := len(elsewhere); n > 0 {
			gate = elsewhere[min(n-1, int(gated*float64(n)))]
		}
		below := func(vs []verdict) (chosen, shipped []float64) {
			for _, v := range vs {
				if of[v.repo] == f {
					chosen, shipped = append(chosen, oneIf(v.confidence < gate)), append(shipped, oneIf(v.low))
				}
			}
			return chosen, shipped
		}
		wrongBelow, wrongShipped := below(wrong)
		rightBelow, rightShipped := below(right)
		fmt.Fprintf(w, "| %d | %.2f | %.1f | %.1f | %.1f | %.1f |\n", f+1, gate,
			100*mean(wrongBelow), 100*mean(rightBelow), 100*mean(wrongShipped), 100*mean(rightShipped))
	}
	fmt.Fprintln(w)
	reportOtherGates(w, right, wrong, verdicts(neighbours(cases)))
}

// reportOtherGates writes, for a range of confidence thresholds, how many questions of each kind are below: those about
// another repository, those about another file of the same repository, and those about the text itself.
func reportOtherGates(w io.Writer, right, wrong, near []verdict) {
	fmt.Fprint(w, `### What another gate would come to

Questions about code, pages and lists of matches that stay below it, in per cent. No gate tells all of one kind from all of the other.

| gate | another repository's | another file's of the same repository | right ones |
|---|---|---|---|
`)
	for _, gate := range []float64{0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8} {
		below := func(vs []verdict) float64 {
			share := make([]float64, len(vs))
			for i, v := range vs {
				share[i] = oneIf(v.confidence < gate)
			}
			return 100 * mean(share)
		}
		fmt.Fprintf(w, "| %.2f | %.1f | %.1f | %.1f |\n", gate, below(wrong), below(near), below(right))
	}
	fmt.Fprintln(w)
}

// verdict is the pruner's confidence in its answer to one question.
type verdict struct {
	repo       string
	confidence float64 // 0 to 1
	low        bool    // the text was returned whole with the warning low_confidence
}

// verdicts asks every case its question and returns one verdict for each text that is not a log.
func verdicts(cases []benchCase) []verdict {
	var out []verdict
	for i := range cases {
		res := cases[i].pruned(cases[i].Question, lineprune.Options{})
		if res.Kind != lineprune.Logs {
			out = append(out, verdict{cases[i].Repo, res.Confidence, slices.Contains(res.Warnings, lineprune.LowConfidence)})
		}
	}
	return out
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
