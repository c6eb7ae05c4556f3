package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
)

const all = "all"

// table holds the scores of one method, one per case in the order of the cases.
type table []score

// evaluate scores every case. keep returns the kept lines of case i.
func evaluate(cases []benchCase, keep func(i int) []int) table {
	out := make(table, len(cases))
	for i := range cases {
		out[i] = cases[i].score(keep(i))
	}
	return out
}

// report measures everything and writes the page.
func report(w io.Writer, cases []benchCase, date string) {
	repos := map[string]bool{}
	for _, c := range cases {
		repos[c.Repo] = true
	}
	fmt.Fprintf(w, `# How well the line pruner keeps answers

Written by %s on %s; do not edit. What changed since is not in it.
%d cases of %d repositories: a question, a text, and the lines that answer it.
Tokens are counted by a proxy (runs of ASCII letters, digits and underscores, every other character, newlines).
Brackets are 95 %% bootstrap intervals over repositories.

`, "`make quality`", date, len(cases), len(repos))
	reportBudgets(w, cases)
	reportGates(w, cases)
	reportStrangers(w, cases)
	reportGate(w, cases)
	reportPhrasings(w, cases)
	reportSlips(w, cases)
	reportParts(w, cases)
	reportDoubt(w, cases)
	reportReranker(w, cases)
	reportFolds(w, cases)
}

// reportBudgets writes the recall of the pruner and of all baselines at every budget.
func reportBudgets(w io.Writer, cases []benchCase) {
	methods := append(slices.Clone(baselines), method{"**ours**", ours})
	results := make([][]table, len(methods))
	for m, method := range methods {
		for _, b := range budgets {
			results[m] = append(results[m], evaluate(cases, func(i int) []int { return method.keep(&cases[i], b) }))
		}
	}
	fmt.Fprint(w, "## Share of the answers' lines kept, by budget\n\nThe budget is the largest share of the text's tokens that may be kept.\n\n")
	for _, task := range tasks(cases) {
		fmt.Fprintf(w, "### %s (%d cases)\n\n| method | 10 %% | 20 %% | 30 %% | 50 %% |\n|---|---|---|---|---|\n", task, count(cases, task))
		for m, method := range methods {
			fmt.Fprintf(w, "| %s |", method.name)
			for b := range budgets {
				fmt.Fprintf(w, " %s |", results[m][b].estimate(cases, task, recallOf))
			}
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w)
	}
	reportLanguages(w, cases, results[len(methods)-1])
}

// reportLanguages writes the pruner's figures by language. mine has one table per budget.
func reportLanguages(w io.Writer, cases []benchCase, mine []table) {
	fmt.Fprint(w, "### Ours, by language\n\n| language | cases | 10 % | 20 % | 30 % | 50 % | every line kept at 20 % |\n|---|---|---|---|---|---|---|\n")
	for _, lang := range languages(cases) {
		pick := func(c *benchCase) bool { return c.Meta.Lang == lang }
		fmt.Fprintf(w, "| %s | %d |", lang, len(choose(cases, mine[0], pick, recallOf)))
		for _, t := range mine {
			fmt.Fprintf(w, " %.1f |", 100*mean(choose(cases, t, pick, recallOf)))
		}
		fmt.Fprintf(w, " %.1f |\n", 100*mean(choose(cases, mine[1], pick, func(s score) float64 { return s.all })))
	}
	fmt.Fprintln(w)
}

// reportGates writes the pruner's figures without a budget.
func reportGates(w io.Writer, cases []benchCase) {
	t := evaluate(cases, func(i int) []int { return cases[i].kept(cases[i].Question, lineprune.Options{}) })
	fmt.Fprint(w, "## Default gates\n\n| task | answers' lines kept | every line kept | tokens kept | with markers | came back whole |\n|---|---|---|---|---|---|\n")
	for _, task := range tasks(cases) {
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s |\n", task, t.estimate(cases, task, recallOf),
			t.estimate(cases, task, func(s score) float64 { return s.all }), t.estimate(cases, task, func(s score) float64 { return s.share }),
			t.estimate(cases, task, paidOf), t.estimate(cases, task, wholeOf))
	}
	fmt.Fprintln(w)
}

// reportStrangers writes the figures for questions about other repositories. A text that has no answer should be
// returned whole. At a budget, the answer lines of the text's own question should rarely be kept: they are kept by
// chance then, and a low figure shows that the choice depends on the question.
func reportStrangers(w io.Writer, cases []benchCase) {
	wrong, every := strangers(cases, true), strangers(cases, false)
	ask := func(cases []benchCase, opts lineprune.Options) table {
		return evaluate(cases, func(i int) []int { return cases[i].kept(cases[i].Question, opts) })
	}
	gates, everyGates, tight := ask(wrong, lineprune.Options{}), ask(every, lineprune.Options{}), ask(wrong, lineprune.Options{Budget: 0.2})
	fmt.Fprint(w, `## Another repository's question

Every text is asked eight questions of other repositories' cases (same task). Most texts have no answer then and should come
back whole; some do have one ("building with CMake"). What is asked of several repositories in the same words ("Why does the
build fail?", half of the questions about logs) is about none of them: the first column leaves such questions out.

| task | came back whole | with every question | right answers' lines found at 20 % by luck |
|---|---|---|---|
`)
	for _, task := range tasks(cases) {
		fmt.Fprintf(w, "| %s | %s | %s | %s |\n", task, gates.estimate(wrong, task, wholeOf), everyGates.estimate(every, task, wholeOf), tight.estimate(wrong, task, recallOf))
	}
	fmt.Fprintln(w)
}

func recallOf(s score) float64 { return s.recall }

func paidOf(s score) float64 { return s.paid }

func wholeOf(s score) float64 { return s.whole }

// choose returns one figure of each case for which pick is true.
func choose(cases []benchCase, t table, pick func(*benchCase) bool, figure func(score) float64) []float64 {
	var out []float64
	for i := range cases {
		if pick(&cases[i]) {
			out = append(out, figure(t[i]))
		}
	}
	return out
}

// estimate returns the mean of a task's figures and its interval as text, in per cent.
func (t table) estimate(cases []benchCase, task string, figure func(score) float64) string {
	e := t.interval(cases, task, figure)
	return fmt.Sprintf("%.1f [%.0f, %.0f]", 100*e.mean, 100*e.low, 100*e.high)
}

// interval returns the mean of a task's figures with its interval. The task may be all.
func (t table) interval(cases []benchCase, task string, figure func(score) float64) interval {
	pick := func(c *benchCase) bool { return task == all || c.Task == task }
	var repos []string
	for i := range cases {
		if pick(&cases[i]) {
			repos = append(repos, cases[i].Repo)
		}
	}
	return estimate(choose(cases, t, pick, figure), repos)
}

// tasks returns the cases' tasks in alphabetical order, and then all.
func tasks(cases []benchCase) []string {
	return append(distinct(cases, func(c *benchCase) string { return c.Task }), all)
}

func languages(cases []benchCase) []string {
	return distinct(cases, func(c *benchCase) string { return c.Meta.Lang })
}

// distinct returns the different keys of the cases in alphabetical order, without "".
func distinct(cases []benchCase, key func(*benchCase) string) []string {
	var out []string
	for i := range cases {
		if k := key(&cases[i]); k != "" && !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, strings.Compare)
	return out
}

func count(cases []benchCase, task string) int {
	n := 0
	for _, c := range cases {
		if task == all || c.Task == task {
			n++
		}
	}
	return n
}
