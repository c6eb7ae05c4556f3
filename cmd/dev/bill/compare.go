package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/replay"
)

func judged() []set {
	return slices.DeleteFunc(slices.Clone(sets), func(s set) bool { return !s.judged })
}

// curve writes the hook's figures at several factors of the price at which a line is kept. Our own server is left
// out, because it chooses lines by other prices.
func (p *page) curve(ctx context.Context) error {
	b := &p.text
	b.WriteString("\n## How deep to cut\n\nBy hook, by repository, at multiples of the price at which a line is kept:\n\n" +
		"| repository | price | gross | net | 95 % | misses twice | three times | median | losing |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, one := range judged() {
		for _, price := range []float64{0.5, 1, 1.5, 2} {
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

// ablated is the set whose figures are shown with parts of the pruner disabled.
const ablated = "claude-code-3"

// ablations writes the figures of a set's sessions with one part of the pruner disabled at a time.
func (p *page) ablations(ctx context.Context) error {
	p.text.WriteString("\n## What each part is worth\n\n" + ablated + " with one part taken away:\n\n" + withoutHead)
	policies := []replay.Policy{replay.Hook, replay.MCP}
	rows := map[replay.Policy]string{}
	for _, part := range []ablation{"", noContext, noLearning, noDecision, noRelevance} {
		r := p.reports[ablated]
		if part != "" {
			var err error
			if r, err = p.replay(ctx, named(ablated), without(part), policies...); err != nil {
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
	for _, one := range []set{named("claude-code-3"), named("swe-bench")} {
		for _, place := range []struct {
			name string
			only bool
		}{{"beside the client's", false}, {"the only tools", true}} {
			for _, h := range habits {
				r := p.reports[one.name] // of tools beside the client's, with a question on every call
				if place.only || h.name != habits[0].name {
					with := replay.Experiment{Defined: place.only, Asks: func(r sessions.ResultCost, careful bool) bool { return !careful && h.asks(r) }}
					var err error
					if r, err = p.replay(ctx, one, with, replay.MCP); err != nil {
						return err
					}
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
