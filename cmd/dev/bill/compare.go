package main

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/replay"
)

func judged() []set {
	return slices.DeleteFunc(slices.Clone(sets), func(s set) bool { return !s.judged })
}

const repositoriesHead = `
## By repository

The repositories whose agents edit what they read, so that the judge sees what was missed, and all of them together by the size of their bills.
Strict and wide are the two rules for needs; the strict one is the product's figure. The limit is a perfect pruner's that keeps 20 %.

`

// repositories writes strict and wide figures side by side.
func (p *page) repositories(context.Context) error {
	b := &p.text
	b.WriteString(repositoriesHead)
	b.WriteString("| policy | repository | strict | 95 % | wide | misses twice | wide, twice | of the limit | losing |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, policy := range []replay.Policy{replay.Hook, replay.GC, replay.Context, replay.Both, replay.All} {
		var all pooled
		for _, one := range judged() {
			r := p.reports[one.name]
			s, _ := r.Of(policy)
			d := r.Details[policy]
			limit := "-"
			if policy == replay.Hook {
				limit = fmt.Sprintf("%.0f %%", 100*s.Net/r.Limit.Keep20)
			}
			twice := s.Wide - (s.Net + d.Misses - s.Wide) // the misses of the wide rule once more
			fmt.Fprintf(b, "| %s | %s | **%+.1f** | %+.1f to %+.1f | %+.1f | %+.1f | %+.1f | %s | %.0f %% |\n", policy, one.name, s.Net, d.Interval[0], d.Interval[1],
				s.Wide, s.Misses2, twice, limit, s.Losing)
			all.add(r, s, twice)
		}
		fmt.Fprintf(b, "| %s | all | **%+.1f** | | %+.1f | %+.1f | %+.1f | %s | %.0f %% |\n", policy,
			all.of(all.net), all.of(all.wide), all.of(all.misses2), all.of(all.twice),
			map[bool]string{true: fmt.Sprintf("%.0f %%", 100*all.net/all.limit), false: "-"}[policy == replay.Hook], all.losing/all.sessions)
	}
	return nil
}

// pooled are figures of several sets, weighted by their bills.
type pooled struct{ bill, net, wide, misses2, twice, limit, losing, sessions float64 }

func (p *pooled) add(r replay.Report, s replay.Pruning, twice float64) {
	p.bill += r.Bill
	p.net += s.Net * r.Bill
	p.wide += s.Wide * r.Bill
	p.misses2 += s.Misses2 * r.Bill
	p.twice += twice * r.Bill
	p.limit += r.Limit.Keep20 * r.Bill
	p.losing += s.Losing * float64(r.Sessions)
	p.sessions += float64(r.Sessions)
}

func (p *pooled) of(sum float64) float64 { return sum / p.bill }

// curve writes the hook's figures at several factors of the price at which a line is kept. Our own server is left
// out, because it chooses lines by other prices.
func (p *page) curve(ctx context.Context) error {
	b := &p.text
	b.WriteString("\n## How deep to cut\n\nBy hook, by repository, at multiples of the price at which a line is kept:\n\n" +
		"| repository | price | gross | net | 95 % | misses twice | three times | median | losing |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, one := range judged() {
		for _, price := range []float64{0.25, 0.5, 0.75, 1, 1.5, 2, 3} {
			r := p.reports[one.name]
			if price != 1 {
				var err error
				if r, err = p.replay(ctx, one, replay.Experiment{Boldness: price}, replay.Hook); err != nil {
					return err
				}
			}
			s, d := r.Policies[replay.Hook].(replay.Pruning), r.Details[replay.Hook]
			fmt.Fprintf(b, "| %s | %.2f | %.1f | %+.1f | %+.1f to %+.1f | %+.1f | %+.1f | %+.1f | %.0f %% |\n", one.name, price,
				s.Gross, s.Net, d.Interval[0], d.Interval[1], s.Misses2, s.Misses3, s.Median, s.Losing)
		}
	}
	return nil
}

// ablations writes the figures of claude-code's sessions with one part of the pruner disabled at a time.
func (p *page) ablations(ctx context.Context) error {
	p.text.WriteString("\n## What each part is worth\n\nclaude-code with one part taken away:\n\n" + withoutHead)
	policies := []replay.Policy{replay.Hook, replay.MCP}
	rows := map[replay.Policy]string{}
	for _, part := range []ablation{"", noContext, noLearning, noDecision, noRelevance} {
		r := p.reports[sets[0].name]
		if part != "" {
			var err error
			if r, err = p.replay(ctx, sets[0], without(part), policies...); err != nil {
				return err
			}
		}
		for _, policy := range policies {
			rows[policy] += withoutRow(policy, string(part), r)
		}
	}
	for _, policy := range policies {
		p.text.WriteString(rows[policy])
	}
	return nil
}

const withoutHead = "| policy | without | net | 95 % | misses twice | three times | median | losing |\n|---|---|---|---|---|---|---|---|\n"

func withoutRow(p replay.Policy, without string, r replay.Report) string {
	s, d := r.Policies[p].(replay.Pruning), r.Details[p]
	return fmt.Sprintf("| %s | %s | %+.1f | %+.1f to %+.1f | %+.1f | %+.1f | %+.1f | %.0f %% |\n", p, cmp.Or(without, "nothing"),
		s.Net, d.Interval[0], d.Interval[1], s.Misses2, s.Misses3, s.Median, s.Losing)
}

// asking writes the figures of this program's own tools beside the client's and in their place, for several rules of when the
// model writes a question.
func (p *page) asking(ctx context.Context) error {
	b := &p.text
	b.WriteString(askingHead)
	for _, one := range sets {
		if one.readme == "" {
			continue
		}
		for _, place := range []struct {
			name string
			only bool
		}{{"beside the client's", false}, {"the only tools", true}} {
			for _, h := range habits {
				if every := one.name == "claude-code" || one.name == "swe-bench"; !every && (!place.only || h.name != asInstructed) {
					continue // for the README alone
				}
				r := p.reports[one.name] // of tools beside the client's, with a question on every call
				if place.only || h.name != habits[0].name {
					with := replay.Experiment{Defined: place.only, Asks: func(r sessions.ResultCost, careful bool) bool { return !careful && h.asks(r) }}
					var err error
					if r, err = p.replay(ctx, one, with, replay.MCP); err != nil {
						return err
					}
				}
				if place.only && h.name == asInstructed {
					p.only[one.name] = r
				}
				s, d := r.Policies[replay.MCP].(replay.Pruning), r.Details[replay.MCP]
				fmt.Fprintf(b, "| %s | %s | %s | %.1f | %.1f | %.1f | %+.1f | %+.1f to %+.1f | %+.1f | %+.1f | %.0f %% |\n", one.name, place.name, h.name,
					s.Gross, d.Questions, d.Definitions, s.Net, d.Interval[0], d.Interval[1], s.Median, s.P10, s.Losing)
			}
		}
	}
	return nil
}

const askingHead = `
## Our own tools, beside the client's and as the only ones

An agent of one's own, or a client without tools that read, search and run, defines some such tools in any case: ours then cost no definitions of their own, and
each question replaces nothing. That is "the only tools". Beside a client's own tools the definitions of ours come on top, and they lose in most
sessions. By when the model writes a question; nobody knows beforehand how long every result will be, so that the third row is a limit. The instructions
of the server tell a model to ask only of large or unknown output.

| set | our tools are | a question | gross | questions | definitions | net | 95 % | median | p10 | losing |
|---|---|---|---|---|---|---|---|---|---|---|
`

const (
	readmeHead = "| sessions | hooks save | misses three times | median session | sessions that lose | " +
		"with GC and prefix | MCP tools beside others | as the only tools |\n" +
		"|---|---|---|---|---|---|---|---|\n"
	readmeRow = "| %d %s | **%+.1f** | %+.1f | %+.1f | %.0f %% | %+.1f | %+.1f | %+.1f |\n"
)

// readmeTable matches the table of the README and the number of sessions above it.
var (
	readmeTable = regexp.MustCompile(`(?m)^\| sessions \| hooks save .*\n(?:\|.*\n)+`)
	readmeCount = regexp.MustCompile(`\d+ recorded sessions`)
)

// inReadme returns the README with this page's figures in its table.
func (p *page) inReadme(text string) string {
	table, count := readmeHead, 0
	for _, one := range sets {
		if one.readme == "" {
			continue
		}
		r := p.reports[one.name]
		hook, _ := r.Of(replay.Hook)
		all, _ := r.Of(replay.All)
		beside, _ := r.Of(replay.MCP)
		only, _ := p.only[one.name].Of(replay.MCP)
		count += r.Sessions
		table += fmt.Sprintf(readmeRow, r.Sessions, one.readme, hook.Net, hook.Misses3, hook.Median, hook.Losing, all.Net, beside.Net, only.Net)
	}
	text = readmeTable.ReplaceAllLiteralString(text, table)
	return readmeCount.ReplaceAllLiteralString(text, strings.TrimSpace(fmt.Sprint(count))+" recorded sessions")
}
