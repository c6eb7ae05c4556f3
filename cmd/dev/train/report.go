package main

import (
	"context"
	"fmt"
	"log"
	"strings"
)

// reportOf returns the text of docs/evidence/LEARNED.md.
func reportOf(ctx context.Context, d *data, ms []*material, o options) (string, error) {
	b := o.boosting
	out := &strings.Builder{}
	fmt.Fprintf(out, reportHead, o.date, len(d.session), len(d.replay), len(d.prune), b.trees)
	trained := map[string]unseen{"session": {}, "repository": {}}
	for _, by := range []string{"session", "repository"} {
		f, err := validate(ctx, ms, foldsOf[by], isAgents, b, trained[by])
		if err != nil {
			return "", err
		}
		log.Printf("folds by %s are measured", by)
		fmt.Fprintf(out, "\n## What agents used later, folds by %s\n", by)
		f.budgets(out)
		f.ablations(out)
		f.natural(out)
	}
	f, err := validate(ctx, ms, foldsOf["session"], isPeoples, b, trained["session"])
	if err != nil {
		return "", err
	}
	out.WriteString("\n## Questions that people asked (prunebench), folds by repository\n")
	f.people(out)
	out.WriteString(reportTail)
	return out.String(), nil
}

// isAgents reports whether an example is a sessionbench case.
func isAgents(e *example) bool { return e.test && e.weight == 1 }

// isPeoples reports whether an example is a prunebench case.
func isPeoples(e *example) bool { return e.test && e.weight != 1 }

const reportHead = `# The learned ranking

Written by ` + "`make train`" + ` on %s; do not edit. What changed since is not in it.
` + "`pruneclient/lineprune/learned`" + ` ranks the lines of a tool's output by how likely the agent is to use them later. Its weights are boosted decision trees, learned offline from agents' sessions.

- **Used** where the tool's arguments or the session are known: by ` + "`replay`" + `, hooks, the proxy and ` + "`prune --batch`" + `. The server's own tools, whose questions are
  written for the text, use it where the hand-written rules are not sure, and to fill a budget; ` + "`prune_text`" + ` and ` + "`POST /prune`" + ` go by the rules.
  So do logs asked for their failure, and texts of more than 2,000 lines.
- **Features**: words of the line, of the lines around it, of its block and its first line, that the question, the arguments or the session have
  (last words, earlier words, searches, edits, outputs), by their rarity in the text; the score of the hand-written rules; line numbers, files and lines
  that were named, edited or shown before; what kind of line it is and where; what is new to the session.
- **Target**: lines that were used later weigh, in each text, as much as all others by their tokens. A score is how much more of what is needed a line is
  expected to hold than of the tokens. Ranges are then chosen so that what they hold, less what they and their markers cost, is the most there can be.
- **Data**: %d cases of sessionbench (with its own gold rules), %d more results of all recorded sessions (with replay's), %d cases of prunebench, each with and without
  a session; prunebench's is about other things, so that an unrelated session does not mislead. Two forests of %d trees: for calls within a session and for others.
- **Measured** as by sessionbench/score.py: tokens by its proxy, 16 tokens for each omitted range, recall as the mean over cases of the share of gold lines kept.
  A fold's weights have seen nothing of its sessions, or of its repositories. Brackets are 95 %% intervals, by bootstrap over sessions or repositories.
- The same arithmetic everywhere: features, thresholds, leaves and sums are integers.
`

const reportTail = `
## Limits

- Gold lines are those whose use left a trace. What an agent read and understood without repeating it is not seen.
- Most sessions are of one Go program and of Django; folds by repository show what that costs.
- The number of trees, their rate and the price of a token were set on these folds; there is no other tuning.
`

// row writes one row of a Markdown table.
func row(out *strings.Builder, cells ...string) {
	fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
}

func (m mean) String() string { return fmt.Sprintf("%.1f [%.1f, %.1f]", m.value, m.low, m.high) }

func (m mean) short() string { return fmt.Sprintf("%.1f", m.value) }

// budgets writes the table of recall by budget.
func (f figures) budgets(out *strings.Builder) {
	all, part := f[key(byRules, 0.3, false)], f[key(byRules, 0.3, true)]
	fmt.Fprintf(out, "\n%d cases; of %d the session is at hand.\n\n### Recall by budget\n\n", len(all), len(part))
	row(out, "method", "10 %", "20 %", "30 %", "50 %", "paid at 30 %")
	row(out, "---", "---", "---", "---", "---", "---")
	for _, withSession := range []bool{false, true} {
		for _, method := range []string{byRandom, byBM25, byRules, byCall, bySession, byOracle} {
			f.budgetRow(out, method, withSession)
		}
	}
}

func (f figures) budgetRow(out *strings.Builder, method string, withSession bool) {
	if len(f[key(method, 0.3, withSession)]) == 0 {
		return
	}
	name := method
	if withSession {
		name += " (cases with a session)"
	}
	cells := []string{name}
	for _, budget := range budgets[:4] {
		cells = append(cells, meanOf(f[key(method, budget, withSession)], recallOf).String())
	}
	row(out, append(cells, meanOf(f[key(method, 0.3, withSession)], paidOf).short())...)
}

// ablations writes how much each part of the ranking changes the figures, as the mean of the differences per case.
func (f figures) ablations(out *strings.Builder) {
	out.WriteString("\n### What each part adds, points of recall at 30 % (paired)\n\n")
	row(out, "part", "recall", "paid")
	row(out, "---", "---", "---")
	for _, pair := range []struct {
		name     string
		from, to string
		session  bool
	}{
		{"learning, without a session", byRules, byCall, false},
		{"learning, with the session", byRules, bySession, true},
		{"the session alone", byCall, bySession, true},
	} {
		d := differences(f[key(pair.from, 0.3, pair.session)], f[key(pair.to, 0.3, pair.session)])
		row(out, pair.name, meanOf(d, recallOf).String(), meanOf(d, paidOf).String())
	}
}

// natural writes the figures without a budget.
func (f figures) natural(out *strings.Builder) {
	out.WriteString("\n### As it comes\n\n")
	row(out, "method", "recall", "tokens", "paid", "whole", "recall where pruned", "paid where pruned")
	row(out, "---", "---", "---", "---", "---", "---", "---")
	for _, withSession := range []bool{false, true} {
		for _, method := range []string{byRules, byCall, bySession} {
			os := f[key(method, 0, withSession)]
			if len(os) == 0 {
				continue
			}
			name := method
			if withSession {
				name += " (cases with a session)"
			}
			f.naturalRow(out, name, os)
		}
	}
}

func (f figures) naturalRow(out *strings.Builder, name string, os []outcome) {
	cut := pruned(os)
	row(out, name, meanOf(os, recallOf).String(), meanOf(os, tokensOf).short(), meanOf(os, paidOf).short(), meanOf(os, wholeOf).short(),
		meanOf(cut, recallOf).String(), meanOf(cut, paidOf).short())
}

// people writes the figures of prunebench with every budget and without one.
func (f figures) people(out *strings.Builder) {
	out.WriteString("\nThe session of these cases is about other repositories: it must not mislead.\n\n")
	row(out, "method", "10 %", "20 %", "30 %", "50 %", "paid at 30 %")
	row(out, "---", "---", "---", "---", "---", "---")
	for _, method := range []string{byRandom, byBM25, byRules, byCall, bySession} {
		f.budgetRow(out, method, true)
	}
	f.natural(out)
}
