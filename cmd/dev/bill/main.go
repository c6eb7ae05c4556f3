// Command bill replays the fixtures' sessions and writes docs/evidence/BILL.md and the table of the README. `make bill` runs it;
// `make context-eval` runs it for the measured block of docs/evidence/PREFIX.md alone.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/folds"
	"github.com/mcp-pruner/mcp-pruner/states/replay"
)

// The page begins with head and ends with goals, whose figures are copied by hand from other pages.
var (
	//go:embed head.md
	head string
	//go:embed goals.md
	goals string
)

func main() {
	folder := flag.String("data", "../shared/fixtures", "folder of the fixtures")
	weights := flag.String("weights", "", "folder of weights per fold, as train -folds writes them")
	out := flag.String("o", "docs/evidence/BILL.md", "file to write")
	readme := flag.String("readme", "", "file whose table is written anew")
	prefixes := flag.String("context", "", "file whose block on the fixed prefix is written anew, and nothing else")
	flag.Parse()
	data := filepath.Join(*folder, "sessions")
	err := error(nil)
	if *prefixes != "" {
		err = evalContext(context.Background(), data, *prefixes)
	} else {
		err = run(context.Background(), data, *weights, *out, *readme)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bill:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, data, weights, out, readme string) error {
	opened, err := os.MkdirTemp("", "bill-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(opened)
	unseen, err := folds.Weights(weights)
	if err != nil {
		return err
	}
	then := newTable()
	p := page{fixtures: fixtures{data, opened, unseen}, then: then, today: newTable(), reports: then.reports}
	for _, write := range []func(context.Context) error{p.policies, p.curve, p.ablations, p.asking} {
		if err := write(ctx); err != nil {
			return err
		}
	}
	if err := os.WriteFile(out, []byte(head+p.text.String()+p.goals()+goals), 0o644); err != nil || readme == "" {
		return err
	}
	text, err := os.ReadFile(readme)
	if err != nil {
		return err
	}
	changed, err := p.inReadme(string(text))
	if err != nil {
		return err
	}
	return os.WriteFile(readme, []byte(changed), 0o644)
}

// page is docs/evidence/BILL.md in the making.
type page struct {
	fixtures
	text    strings.Builder
	then    *table                   // at the prices of the sessions' own models
	today   *table                   // at those of today's default models
	reports map[string]replay.Report // of every policy, by set
}

// policies writes what each policy saves: first a table of all sets, then a section for each set.
func (p *page) policies(ctx context.Context) error {
	var details strings.Builder
	for _, one := range sets {
		if err := p.then.replay(ctx, p.fixtures, one, replay.Experiment{}, replay.Policies()...); err != nil {
			return err
		}
		if err := p.today.replay(ctx, p.fixtures, one, replay.Experiment{Model: one.model}, summarised...); err != nil {
			return err
		}
		r := p.reports[one.name]
		writeSet(&details, one, r)
		if one.judged {
			writeParts(&details, r)
		}
	}
	p.summaries()
	p.text.WriteString(details.String())
	return nil
}

// writeSet writes the figures of one set for every policy.
func writeSet(b *strings.Builder, one set, r replay.Report) {
	from := "usage modelled"
	if r.Measured == r.Sessions {
		from = "the API's own usage"
	}
	fmt.Fprintf(b, "\n## %s: %d sessions, %s\n\n%s, %s. %s\n\n", one.name, r.Sessions, from, strings.TrimSpace(one.client+" "+one.version), one.when(), one.about)
	label, printed := r.Label()
	if label != "" {
		fmt.Fprintf(b, "**%s**\n\n", label)
	}
	writeContents(b, r)
	fmt.Fprintf(b, "A perfect pruner that keeps 10, 20, 30 %%: %.1f, %.1f, %.1f.\n\n", r.Limit.Keep10, r.Limit.Keep20, r.Limit.Keep30)
	if !printed {
		return
	}
	b.WriteString(policyHead)
	for _, policy := range replay.Policies() {
		s, _ := r.Of(policy)
		d := r.Details[policy]
		fmt.Fprintf(b, "| %s | %.1f | %.2f | %.1f | %.1f | %.2f | **%+.1f** | %+.1f to %+.1f | %+.1f | %+.1f | %+.1f | %+.1f | %+.1f | %+.1f | %.0f %% |\n",
			policy, s.Gross, d.Markers, d.Questions, d.Definitions, d.Misses, s.Net, d.Interval[0], d.Interval[1], s.Wide, s.Misses2, s.Misses3,
			s.Median, s.P10, s.P90, s.Losing)
	}
	if gc, ok := r.Policies[replay.GC].(replay.Clearing); ok {
		fmt.Fprintf(b, "\nContext GC, of modelled input: %+.1f %%, of which re-reads %.1f; worst session %+.1f. The best fixed rule: %+.1f, worst %+.1f.\n",
			gc.Input, gc.Reread, gc.Worst, gc.Fixed, gc.FixedWorst)
	}
	if r.HourOnPrefix != 0 {
		known := ""
		if r.HourUnknown > 0 {
			known = fmt.Sprintf(", if all %d pauses of unknown length were shorter", r.HourUnknown)
		}
		fmt.Fprintf(b, "\nAdvice, which nothing here follows: a cache lifetime of an hour on the fixed prefix alone would have saved %+.1f %%%s.\n",
			r.HourOnPrefix, known)
	}
	if d := r.Details[replay.Context]; d.Pruned > 0 {
		fmt.Fprintf(b, "\nFrom the fixed prefix %d parts of known size went, in all sessions together; %.1f %% of the sessions called one.\n",
			d.Pruned, d.Hurt)
	}
}

const policyHead = "| policy | gross | markers | questions | definitions | misses | net | 95 % | wide | " +
	"misses twice | three times | median | p10 | p90 | losing |\n" +
	"|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"

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
