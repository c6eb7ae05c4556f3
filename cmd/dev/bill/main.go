// Command bill replays the fixtures' sessions and writes docs/BILL.md. `make bill` runs it.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/folds"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/bill"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/learned"
	"github.com/mcp-pruner/mcp-pruner/states/replay"
)

// The page begins with head and ends with goals. The figures in goals are copied by hand from this page and others.
var (
	//go:embed head.md
	head string
	//go:embed goals.md
	goals string
)

func main() {
	data := flag.String("data", "../shared/fixtures", "folder of the fixtures")
	weights := flag.String("weights", "", "folder of weights per fold, as train -folds writes them")
	out := flag.String("o", "docs/BILL.md", "file to write")
	flag.Parse()
	text, err := page(context.Background(), filepath.Join(*data, "sessions"), *weights)
	if err == nil {
		err = os.WriteFile(*out, []byte(text), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bill:", err)
		os.Exit(1)
	}
}

// sets are the names of the fixtures' collections of sessions.
var sets = []string{"claude-code", "claude-code-2", "swe-bench", "mini-swe", "opencode", "mcp-tools"}

// remarks stand below the headings of collections: repository, language and year, and what is wrong with a set. A collection
// whose figures are withdrawn is not in the README.
var remarks = map[string]string{
	"claude-code":   "entireio/cli, Go, 2025 and 2026.\n\n",
	"claude-code-2": "FSM1/cipher-box and PackmindHub/context-evaluator, TypeScript, 2026.\n\n",
	"swe-bench":     "SWE-bench Verified, twelve Python repositories, 2026.\n\n",
	"mini-swe":      "SWE-bench Verified by one bash tool, Python, 2025.\n\n",
	"opencode":      "dayhaysoos/nimbus, TypeScript, 2026: short sessions of sub-agents that review.\n\n",
	"mcp-tools": `**Withdrawn.** Claude Code with GitHub or browser servers, short graded tasks, 2026. Until November 2026 this page stated +6.7 for the hook; most of
that was results of one line that were cut to nothing, and no rule saw a need (a record's id, a ` + "`uid`" + `, a title). Now the rules see these, and they are few.

`,
}

// page returns the text of the page. dir is the folder of the sessions, weights that of the weights by fold.
func page(ctx context.Context, dir, weights string) (string, error) {
	unseen, err := folds.Weights(weights)
	if err != nil {
		return "", err
	}
	f := fixtures{dir, unseen}
	var b strings.Builder
	b.WriteString(head)
	all := []replay.Policy{replay.Hook, replay.MCP, replay.Proxy, replay.GC, replay.Both, replay.All}
	for _, set := range sets {
		r, err := f.replay(ctx, set, replay.Experiment{}, all)
		if err != nil {
			return "", err
		}
		writeSet(&b, set, r)
		if set == "claude-code" {
			writeParts(&b, r)
		}
	}
	for _, write := range []func(context.Context, *strings.Builder) error{f.writeCurve, f.writeAblations, f.writeAsking} {
		if err := write(ctx, &b); err != nil {
			return "", err
		}
	}
	b.WriteString(goals)
	return b.String(), nil
}

// fixtures holds the folder of the recorded sessions and, for each fold, weights that were learned without its
// sessions.
type fixtures struct {
	dir    string
	unseen []*learned.Weights // indexed by fold
}

// replay replays one collection, each session with the weights of its fold.
func (f fixtures) replay(ctx context.Context, set string, with replay.Experiment, policies []replay.Policy) (replay.Report, error) {
	fmt.Fprintln(os.Stderr, "bill:", set, policies)
	s := replay.Settings{Files: []string{filepath.Join(f.dir, set+".jsonl.gz")}, Policies: policies, Experiment: with}
	s.Weights = func(s sessions.Session) *learned.Weights { return f.unseen[folds.Of(folds.Repository(s.Source, s.ID))] }
	r, _, err := replay.Replay(ctx, s)
	return r, err
}

// writeCurve writes the hook's figures at several factors of the price at which a line is kept. Our own server is left
// out, because it chooses lines by other prices.
func (f fixtures) writeCurve(ctx context.Context, b *strings.Builder) error {
	b.WriteString("\n## How deep to cut\n\nclaude-code by hook, at multiples of the price at which a line is kept:\n\n| price | gross | net | misses twice | three times | median | losing |\n|---|---|---|---|---|---|---|\n")
	for _, price := range []float64{0.25, 0.5, 0.75, 1, 1.5, 2, 3} {
		r, err := f.replay(ctx, "claude-code", replay.Experiment{Boldness: price}, []replay.Policy{replay.Hook})
		if err != nil {
			return err
		}
		s := r.Policies[replay.Hook].(replay.Pruning)
		fmt.Fprintf(b, "| %.2f | %.1f | %+.1f | %+.1f | %+.1f | %+.1f | %.0f %% |\n", price, s.Gross, s.Net, s.Misses2, s.Misses3, s.Median, s.Losing)
	}
	return nil
}

// writeSet writes the figures of one collection for every policy.
func writeSet(b *strings.Builder, set string, r replay.Report) {
	from := "usage modelled"
	if r.Measured == r.Sessions {
		from = "the API's own usage"
	}
	fmt.Fprintf(b, "\n## %s: %d sessions, %s\n\n%s", set, r.Sessions, from, remarks[set])
	label, printed := r.Label()
	if label != "" {
		fmt.Fprintf(b, "**%s**\n\n", label)
	}
	writeContents(b, r)
	fmt.Fprintf(b, "A perfect pruner that keeps 10, 20, 30 %%: %.1f, %.1f, %.1f.\n\n", r.Limit.Keep10, r.Limit.Keep20, r.Limit.Keep30)
	if !printed {
		return
	}
	b.WriteString("| policy | gross | markers | questions | definitions | misses | net | 95 % | wide | misses twice | three times | median | p10 | p90 | losing |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, p := range []replay.Policy{replay.Hook, replay.MCP, replay.Proxy, replay.GC, replay.Both, replay.All} {
		s, ok := r.Of(p)
		if !ok {
			continue
		}
		d := r.Details[p]
		fmt.Fprintf(b, "| %s | %.1f | %.2f | %.1f | %.1f | %.2f | **%+.1f** | %+.1f to %+.1f | %+.1f | %+.1f | %+.1f | %+.1f | %+.1f | %+.1f | %.0f %% |\n",
			p, s.Gross, d.Markers, d.Questions, d.Definitions, d.Misses, s.Net, d.Interval[0], d.Interval[1], s.Wide, s.Misses2, s.Misses3, s.Median, s.P10, s.P90, s.Losing)
	}
	if gc, ok := r.Policies[replay.GC].(replay.Clearing); ok {
		fmt.Fprintf(b, "\nContext GC, of modelled input: %+.1f %%, of which re-reads %.1f; worst session %+.1f. The best fixed rule: %+.1f, worst %+.1f.\n", gc.Input, gc.Reread, gc.Worst, gc.Fixed, gc.FixedWorst)
	}
}

// mostContents is the number of contents in the table of a set.
const mostContents = 12

// writeContents writes what the bill of a set is made of.
func writeContents(b *strings.Builder, r replay.Report) {
	sums := map[string]float64{}
	for content, by := range r.Composition {
		sums[content] = by.Sum()
	}
	b.WriteString("| the bill is made of | fresh | written | written again | read | output | all |\n|---|---|---|---|---|---|---|\n")
	for i, content := range replay.ByValue(sums) {
		if by := r.Composition[content]; i < mostContents {
			fmt.Fprintf(b, "| %s | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f |\n", content, by.Fresh, by.Write, by.Again, by.Read, by.Output, by.Sum())
		}
	}
	b.WriteByte('\n')
}

// writeParts writes the hook's figures by tool and by size of the result.
func writeParts(b *strings.Builder, r replay.Report) {
	d := r.Details[replay.Hook]
	b.WriteString("\nThe hook by tool and by size of the result in tokens:\n\n| | pruned | with a miss | gross | net |\n|---|---|---|---|---|\n")
	for _, part := range []struct {
		names  []string
		groups map[string]replay.Group
	}{{[]string{"Read", "Grep", "Bash"}, d.Tools}, {[]string{"20k+", "5k-20k", "2k-5k", "1k-2k", "under 1k"}, d.Sizes}} {
		for _, name := range part.names {
			g := part.groups[name]
			fmt.Fprintf(b, "| %s | %d | %d | %.2f | %+.2f |\n", name, g.Pruned, g.Missed, g.Gross, g.Net)
		}
	}
}

// writeAblations writes the figures of claude-code's sessions with one part of the pruner disabled at a time.
func (f fixtures) writeAblations(ctx context.Context, b *strings.Builder) error {
	b.WriteString("\n## What each part is worth\n\nclaude-code with one part taken away:\n\n" + withoutHead)
	policies := []replay.Policy{replay.Hook, replay.MCP}
	rows := map[replay.Policy]string{}
	for _, part := range []ablation{"", noContext, noLearning, noDecision, noRelevance} {
		r, err := f.replay(ctx, "claude-code", without(part), policies)
		if err != nil {
			return err
		}
		for _, p := range policies {
			rows[p] += withoutRow(p, string(part), r)
		}
	}
	for _, p := range policies {
		b.WriteString(rows[p])
	}
	return nil
}

const withoutHead = "| policy | without | net | 95 % | misses twice | three times | median | losing |\n|---|---|---|---|---|---|---|---|\n"

func withoutRow(p replay.Policy, without string, r replay.Report) string {
	s, d := r.Policies[p].(replay.Pruning), r.Details[p]
	return fmt.Sprintf("| %s | %s | %+.1f | %+.1f to %+.1f | %+.1f | %+.1f | %+.1f | %.0f %% |\n", p, cmp.Or(without, "nothing"),
		s.Net, d.Interval[0], d.Interval[1], s.Misses2, s.Misses3, s.Median, s.Losing)
}

// writeAsking writes the figures of this program's own tools for several rules of when the model writes a question,
// with and without the costs of the tools' definitions.
func (f fixtures) writeAsking(ctx context.Context, b *strings.Builder) error {
	b.WriteString(askingHead)
	for _, set := range []string{"claude-code", "swe-bench"} {
		for _, defined := range []bool{false, true} {
			for _, h := range habits {
				with := replay.Experiment{Defined: defined, Asks: func(r bill.Result, careful bool) bool { return !careful && h.asks(r) }}
				r, err := f.replay(ctx, set, with, []replay.Policy{replay.MCP})
				if err != nil {
					return err
				}
				s, d := r.Policies[replay.MCP].(replay.Pruning), r.Details[replay.MCP]
				fmt.Fprintf(b, "| %s | %s | %.1f | %.1f | %.1f | %+.1f | %+.1f to %+.1f | %+.1f | %+.1f | %.0f %% |\n", set, h.name,
					s.Gross, d.Questions, d.Definitions, s.Net, d.Interval[0], d.Interval[1], s.Median, s.P10, s.Losing)
			}
		}
	}
	return nil
}

const askingHead = `
## When a model should ask

Our own tools, by when the model writes a question. Nobody knows beforehand how long every result will be, so that the third row
of a set is a limit. The rows without definitions are of a client in which our tools take the place of its own. The
instructions of the server tell a model to ask only of large or unknown output.

A model that asks nothing of commands brings the median of Claude Code's sessions close to 0. No habit brings the sessions that
lose down to 15 %: where no result is large nothing can be saved, and the definitions and the questions remain. A hook has
neither. Without the decision (above) our server nets more, because then a question is asked of files that are about to be
edited, too; with misses counted three times it nets less.

| set | a question | gross | questions | definitions | net | 95 % | median | p10 | losing |
|---|---|---|---|---|---|---|---|---|---|
`
