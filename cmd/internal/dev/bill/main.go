// Command bill replays the fixtures' sessions and writes docs/BILL.md: `make bill`.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mcp-pruner/cmd/internal/replay"
)

//go:embed head.md
var head string

func main() {
	data := flag.String("data", "../shared/fixtures", "folder of the fixtures")
	out := flag.String("o", "docs/BILL.md", "file to write")
	flag.Parse()
	text, err := page(context.Background(), filepath.Join(*data, "sessions"))
	if err == nil {
		err = os.WriteFile(*out, []byte(text), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bill:", err)
		os.Exit(1)
	}
}

// sets are the collections, as the fixtures name them.
var sets = []string{"claude-code", "swe-bench", "mini-swe", "mcp-tools"}

func page(ctx context.Context, dir string) (string, error) {
	var b strings.Builder
	b.WriteString(head)
	all := []replay.Policy{replay.Hook, replay.MCP, replay.Proxy, replay.GC}
	for _, set := range sets {
		r, err := run(ctx, dir, set, "", all)
		if err != nil {
			return "", err
		}
		writeSet(&b, set, r)
		if set == "claude-code" {
			writeParts(&b, r)
		}
	}
	err := writeAblations(ctx, &b, dir)
	return b.String(), err
}

func run(ctx context.Context, dir, set string, without replay.Ablation, policies []replay.Policy) (replay.Report, error) {
	fmt.Fprintln(os.Stderr, "bill:", set, without)
	r, _, err := replay.Replay(ctx, replay.Settings{
		Files: []string{filepath.Join(dir, set+".jsonl.gz")}, Policies: policies, Prices: replay.DefaultPrices, Without: without,
	})
	return r, err
}

func writeSet(b *strings.Builder, set string, r replay.Report) {
	from := "usage modelled"
	if r.Measured == r.Sessions {
		from = "the API's own usage"
	}
	fmt.Fprintf(b, "\n## %s: %d sessions, %s\n\n", set, r.Sessions, from)
	fmt.Fprintf(b, "A perfect pruner that keeps 10, 20, 30 %%: %.1f, %.1f, %.1f.\n\n", r.Limit.Keep10, r.Limit.Keep20, r.Limit.Keep30)
	b.WriteString("| policy | gross | markers | questions | definitions | misses | net | 95 % | misses twice | three times | median | p10 | p90 | losing |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, p := range []replay.Policy{replay.Hook, replay.MCP, replay.Proxy} {
		s, ok := r.Policies[p].(replay.Pruning)
		if !ok {
			continue
		}
		d := r.Details[p]
		fmt.Fprintf(b, "| %s | %.1f | %.2f | %.1f | %.1f | %.2f | **%+.1f** | %+.1f to %+.1f | %+.1f | %+.1f | %+.1f | %+.1f | %+.1f | %.0f %% |\n",
			p, s.Gross, d.Markers, d.Questions, d.Definitions, d.Misses, s.Net, d.Interval[0], d.Interval[1], s.Misses2, s.Misses3, s.Median, s.P10, s.P90, s.Losing)
	}
	if gc, ok := r.Policies[replay.GC].(replay.Clearing); ok {
		fmt.Fprintf(b, "\nContext GC: modelled input %+.1f %%, of which re-reads %.1f; worst session %+.1f.\n", gc.Input, gc.Reread, gc.Worst)
	}
}

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

// writeAblations says what each part of the pruner is worth, by hook.
func writeAblations(ctx context.Context, b *strings.Builder, dir string) error {
	b.WriteString("\n## What each part is worth\n\nclaude-code by hook, with one part taken away:\n\n| without | net | 95 % | misses twice | three times | losing |\n|---|---|---|---|---|---|\n")
	for _, without := range []replay.Ablation{"", replay.Context, replay.Learning, replay.Decision, replay.Relevance} {
		r, err := run(ctx, dir, "claude-code", without, []replay.Policy{replay.Hook})
		if err != nil {
			return err
		}
		s := r.Policies[replay.Hook].(replay.Pruning)
		d := r.Details[replay.Hook]
		name := string(without)
		if name == "" {
			name = "nothing"
		}
		fmt.Fprintf(b, "| %s | %+.1f | %+.1f to %+.1f | %+.1f | %+.1f | %.0f %% |\n", name, s.Net, d.Interval[0], d.Interval[1], s.Misses2, s.Misses3, s.Losing)
	}
	return nil
}
