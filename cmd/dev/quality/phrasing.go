package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
)

// phrasings are texts around a question. None adds a name that a text could contain.
var phrasings = []string{
	"%s",
	"Please explain in detail: %s",
	"Looking for the relevant snippet and its definition. %s",
	"I am trying to understand the following, show me the exact logic responsible: %s",
	"I'm investigating a bug and want to figure out which portion of this matters. %s Include the surrounding context and any related helpers.",
}

// reportPhrasings measures every question within each of the phrasings. The figures should change little.
func reportPhrasings(w io.Writer, cases []benchCase) {
	fmt.Fprint(w, `## The same questions in more words

Default gates; the last column is of another repository's questions.

| question | answers' lines kept | tokens kept | came back whole | wrong ones whole |
|---|---|---|---|---|
`)
	wrong := strangers(cases, true)
	for _, phrasing := range phrasings {
		ask := func(question string) string { return fmt.Sprintf(phrasing, strings.TrimSpace(question)) }
		right := evaluate(cases, func(i int) []int { return cases[i].kept(ask(cases[i].Question), lineprune.Options{}) })
		strange := evaluate(wrong, func(i int) []int { return wrong[i].kept(ask(wrong[i].Question), lineprune.Options{}) })
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", ask("…"), right.estimate(cases, all, recallOf),
			right.estimate(cases, all, func(s score) float64 { return s.share }), right.estimate(cases, all, wholeOf), strange.estimate(wrong, all, wholeOf))
	}
	fmt.Fprintln(w)
}
