package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// joint is a pair of questions about one text.
type joint struct {
	first, second benchCase
}

// joints returns all pairs of questions about the same text, of the same task, whose answers have no line in common.
// Logs are left out, because all questions about one log are about its only failure.
func joints(cases []benchCase) []joint {
	byText := map[string][]benchCase{}
	var out []joint
	for _, c := range cases {
		for _, other := range byText[c.Text] {
			apart := !slices.ContainsFunc(c.Gold, func(line int) bool { return slices.Contains(other.Gold, line) })
			if c.Task == other.Task && c.SourceType != lineprune.Logs && apart {
				out = append(out, joint{other, c})
			}
		}
		byText[c.Text] = append(byText[c.Text], c)
	}
	return out
}

// question returns both questions as one text.
func (j joint) question() string {
	return strings.TrimRight(strings.TrimSpace(j.first.Question), "?.") + "? " + strings.TrimSpace(j.second.Question)
}

// reportParts compares the figures of two questions that are asked separately with those of both asked at once.
func reportParts(w io.Writer, cases []benchCase) {
	pairs := joints(cases)
	fmt.Fprintf(w, `## Two questions at once

%d pairs of questions about the same text, each asked alone and both at once. The worse part is the one of which less is kept.

| | lines of a part kept, alone | at once | of the worse part, alone | at once | nothing of a part, alone | at once | tokens kept, alone | at once |
|---|---|---|---|---|---|---|---|---|
`, len(pairs))
	for _, budget := range []float64{0, 0.2, 0.3, 0.5} {
		var recall, worse, lost, tokens [2][]float64
		for _, j := range pairs {
			opts := lineprune.Options{Budget: budget}
			a, b := j.first.score(j.first.kept(j.first.Question, opts)), j.second.score(j.second.kept(j.second.Question, opts))
			both := j.first.kept(j.question(), opts)
			c, d := j.first.score(both), j.second.score(both)
			for k, parts := range [][2]score{{a, b}, {c, d}} {
				recall[k] = append(recall[k], (parts[0].recall+parts[1].recall)/2)
				worse[k] = append(worse[k], min(parts[0].recall, parts[1].recall))
				lost[k] = append(lost[k], oneIf(min(parts[0].recall, parts[1].recall) == 0))
				tokens[k] = append(tokens[k], (parts[0].share+parts[1].share)/2)
			}
		}
		name := "default gates"
		if budget > 0 {
			name = fmt.Sprintf("budget of %.0f %%", 100*budget)
		}
		fmt.Fprintf(w, "| %s |", name)
		for _, figure := range [][2][]float64{recall, worse, lost, tokens} {
			fmt.Fprintf(w, " %.1f | %.1f |", 100*mean(figure[0]), 100*mean(figure[1]))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
}

// reportDoubt writes how often a result under a budget of 20 % carries a note that it may not answer the question: for
// questions about other repositories, and for those about the text itself.
func reportDoubt(w io.Writer, cases []benchCase) {
	noted := func(cases []benchCase) float64 {
		notes := make([]float64, len(cases))
		for i := range cases {
			notes[i] = oneIf(cases[i].pruned(cases[i].Question, lineprune.Options{Budget: 0.2}).Note != "")
		}
		return 100 * mean(notes)
	}
	fmt.Fprintf(w, `## Doubt under a budget

A budget is filled even where nothing answers, and the result then says so. Of another repository's questions %.1f %% get such a
note at 20 %%, of the right ones %.1f %%.

`, noted(strangers(cases, true)), noted(cases))
}

// reportReranker writes how many enclosing definitions and error lines are kept when an external model orders the
// lines, with and without the pruner's additions. BM25 over lines takes the place of the model; like it, BM25 knows
// nothing of the text's structure.
func reportReranker(w io.Writer, cases []benchCase) {
	const pruned = 0.7
	fmt.Fprintf(w, `## Structure around a reranker's lines

BM25 over lines takes the place of the model, and %.0f %% of the lines may go. Definitions are those that enclose a kept line,
errors the lines of a log that are an alarm; of many alarms of one statement only some must stay. Enclosing definitions may take
%.0f %% of the tokens. Imports and an outline of the other definitions are added only while all of it together takes at most %.0f %%.

3 %% is too little for the enclosing definitions, because single lines chosen by words lie in most of a file's functions. As their
limit, 3 %% of each text's tokens kept 86 %% of them, 4 %% 92 and 5 %% 95. Errors have no limit: a log without its errors answers nothing.

| | cases | kept by the order alone | with structure | tokens added, of the text |
|---|---|---|---|---|
`, 100*pruned, 100*doc.ExtraShare, 100*doc.SkeletonShare)
	for _, what := range []struct {
		name string
		kind lineprune.Kind
		of   func(t *reranked, kept []bool) []int
	}{{"definitions", lineprune.Code, (*reranked).definitions}, {"errors", lineprune.Logs, (*reranked).errors}} {
		var alone, with, added []float64
		for i := range cases {
			t := rerank(&cases[i], pruned)
			if t.kind != what.kind {
				continue
			}
			if lines := what.of(t, t.alone); len(lines) > 0 {
				alone = append(alone, shareKept(lines, t.alone))
			}
			if lines := what.of(t, t.with); len(lines) > 0 {
				with = append(with, shareKept(lines, t.with))
			}
			added = append(added, t.added)
		}
		fmt.Fprintf(w, "| %s | %d | %.1f | %.1f | %.1f |\n", what.name, len(added), 100*mean(alone), 100*mean(with), 100*mean(added))
	}
	fmt.Fprintln(w)
}

// reranked is a text whose lines were chosen in the order of their BM25 scores.
type reranked struct {
	c           *benchCase
	kind        lineprune.Kind
	alone, with []bool  // per line: kept by the order alone, and with the pruner's additions
	added       float64 // tokens of the additions as a fraction of the text's
}

// rerank chooses the lines of a case. pruned is the largest fraction of the lines that may be omitted.
func rerank(c *benchCase, pruned float64) *reranked {
	opts := lineprune.Options{MaxPruneRatio: pruned, LimitRatio: true}
	survey, err := lineprune.Look(context.Background(), c.Text, c.Question, c.SourceType, opts)
	if err != nil {
		panic(err) // the only error is a cancelled context, and this one is never cancelled
	}
	n := len(survey.Score)
	order := lineOrder(c, plainWords)
	order = slices.DeleteFunc(order, func(i int) bool { return i >= n }) // unlike benchCase, lineprune ignores a final newline
	res := survey.Keep(order)
	t := &reranked{c: c, kind: survey.Kind, alone: make([]bool, n), with: make([]bool, n)}
	for _, i := range order[:n-lineprune.MaxPruned(n, pruned)] {
		t.alone[i] = true
	}
	for _, k := range res.Kept {
		t.with[k-1] = true
	}
	for i := range n {
		t.added += float64(c.tokens[i]) / float64(c.total) * (oneIf(t.with[i]) - oneIf(t.alone[i]))
	}
	return t
}

// definitions returns the indices of the first lines of all definitions that enclose a kept line. kept has one entry
// per line.
func (t *reranked) definitions(kept []bool) (lines []int) {
	for _, u := range structure.Code(doc.New(t.c.Text)).Units {
		if u.Head >= 0 && slices.Contains(kept[u.Start:u.End], true) {
			lines = append(lines, u.Head)
		}
	}
	return lines
}

// errors returns the indices of a log's lines that signal an error. It does not depend on the kept lines.
func (t *reranked) errors([]bool) (lines []int) {
	for i := range t.with {
		if structure.Signal(t.c.lines[i]) >= doc.AlarmSignal {
			lines = append(lines, i)
		}
	}
	return lines
}

// shareKept returns the fraction of the given lines, by index, that are kept.
func shareKept(lines []int, kept []bool) float64 {
	n := 0.0
	for _, i := range lines {
		n += oneIf(kept[i])
	}
	return n / float64(len(lines))
}
