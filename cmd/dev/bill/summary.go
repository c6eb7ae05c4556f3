package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/states/replay"
)

// summarised are the policies of the tables that have all sets.
var summarised = []replay.Policy{replay.Hook, replay.GC, replay.Context, replay.All}

// losing is the net, in percent of a session's bill, below which a session counts as a loss.
const losing = -.05

// figures are those of some sessions together.
type figures struct {
	sessions, lost int
	bill, twice    float64 // twice: net of everything together, misses counted twice
	net            map[replay.Policy]float64
}

func (sum *figures) add(f *replay.Figures) {
	if sum.net == nil {
		sum.net = map[replay.Policy]float64{}
	}
	sum.sessions++
	sum.bill += f.Total
	for _, policy := range summarised {
		sum.net[policy] += f.Outcome(policy).Net(1)
	}
	all := f.Outcome(replay.All)
	sum.twice += all.Net(2)
	if 100*all.Net(1) < losing*f.Total {
		sum.lost++
	}
}

func (sum *figures) percent(net float64) float64 { return 100 * net / sum.bill }

func (sum *figures) losing() float64 { return 100 * float64(sum.lost) / float64(sum.sessions) }

const (
	figuresHead = " hook | gc | context | all | all, misses twice | sessions that lose |\n"
	figuresLine = "---|---|---|---|---|---|\n"
)

// cells are those of a row below figuresHead.
func (sum *figures) cells() string {
	text := ""
	for _, policy := range summarised {
		text += fmt.Sprintf(" %+.1f |", sum.percent(sum.net[policy]))
	}
	return text + fmt.Sprintf(" %+.1f | %.0f %% |\n", sum.percent(sum.twice), sum.losing())
}

// table is what replay says of all sets, by the prices of the sessions' own models or of today's default ones.
type table struct {
	sets    map[string]*figures
	reports map[string]replay.Report
	clients map[string]*figures // modern ones
	groups  map[string]*figures // by client, repository and half-year
}

func newTable() *table {
	return &table{map[string]*figures{}, map[string]replay.Report{}, map[string]*figures{}, map[string]*figures{}}
}

// sum returns the figures of a name, and makes them.
func sum(of map[string]*figures, name string) *figures {
	if of[name] == nil {
		of[name] = &figures{}
	}
	return of[name]
}

// replay adds a set to the table. The sessions of a set of which no net can be said are in no sum.
func (t *table) replay(ctx context.Context, f fixtures, one set, with replay.Experiment, policies ...replay.Policy) error {
	s, err := f.settings(one, with, policies...)
	if err != nil {
		return err
	}
	var all []*replay.Figures
	s.Chosen = func(f *replay.Figures) { all = append(all, f) }
	r, _, err := replay.Replay(ctx, s)
	if err != nil {
		return err
	}
	t.reports[one.name] = r
	_, printed := r.Label()
	for _, f := range all {
		sum(t.sets, one.name).add(f)
		if !printed || !slices.Contains(columns, one.client) {
			continue
		}
		if one.modern() {
			sum(t.clients, one.client).add(f)
		}
		for _, repository := range []string{"all", one.repository(f.Session)} {
			sum(t.groups, strings.Join([]string{one.client, repository, one.halfYear(f.Session)}, " | ")).add(f)
		}
	}
	return nil
}

// bySet writes a table with a row for each set, newest first.
func (t *table) bySet(b *strings.Builder) {
	b.WriteString("| client | set | recorded | sessions | unknown | needed |" + figuresHead + "|---|---|---|---|---|---|" + figuresLine)
	for _, one := range sets {
		r := t.reports[one.name]
		fmt.Fprintf(b, "| %s | %s | %s | %d | %.1f | %.0f %% |", one.client, one.name, one.when(), r.Sessions, r.Composition["unknown"].Sum(), r.Needed)
		if _, printed := r.Label(); !printed {
			b.WriteString(" no net | | | | | |\n")
			continue
		}
		b.WriteString(t.sets[one.name].cells())
	}
}

const (
	bySetHead = `
## By client and year

The newest first. Percent of the whole bill at the prices of each session's own models, misses paid; unknown is the part of the bill that no
text of the transcript accounts for; needed are the large results that leave a mark of being needed later. Half do where agents edit; where few do, misses
are not seen and the figures are too good, and where next to none does there is no net.

`
	todayHead = `
## The same at the prices of today's default models

The same sessions, each call judged as one of Opus 5.5 (Claude Code, SWE-bench) or gpt-6.2 (the others): its prices, its bands, and for Opus 5.5 thinking that is
bound to what stands before it. The tokens stay those that were counted. For gpt-6.2, what was fresh is written to the cache.

`
	groupsHead = `
## By repository and half-year

The three clients' sessions by what they worked on and when, of the sets of which a net can be said.

`
	goalsHead = `
## Goals and what was reached

"Folds" are sessions or repositories that the weights have not seen; they stand for the halves of the fixtures that are kept back. The clients are those since
April 2026, at the prices of today's default models; in brackets at those of the time.

| goal | reached | |
|---|---|---|
`
)

// summaries writes the tables that have all sets, at the prices of the time and of today.
func (p *page) summaries() {
	b := &p.text
	var names []string
	for _, one := range sets {
		if one.modern() {
			names = append(names, one.name)
		}
	}
	b.WriteString(bySetHead)
	p.then.bySet(b)
	b.WriteString("\nOf the clients since April 2026 whose agents edit (" + strings.Join(names, ", ") + "), as in the README:\n\n| | " +
		strings.Join(columns, " | ") + " |\n|---|---|---|---|\n")
	for _, row := range rows {
		b.WriteString("| " + row.name + p.clients(row.policy) + "\n")
	}
	b.WriteString(todayHead)
	p.today.bySet(b)
	b.WriteString(groupsHead + "| client | repository | recorded | sessions |" + figuresHead + "|---|---|---|---|" + figuresLine)
	for _, key := range slices.Sorted(maps.Keys(p.then.groups)) {
		g := p.then.groups[key]
		fmt.Fprintf(b, "| %s | %d |%s", key, g.sessions, g.cells())
	}
}

// goals writes what the clients of today reach.
func (p *page) goals() string {
	text := goalsHead
	for _, goal := range []struct {
		client     string
		all, twice float64
	}{{"Claude Code", 22, 16}, {"Codex", 46, 42}} {
		today, then := sum(p.today.clients, goal.client), sum(p.then.clients, goal.client)
		all, twice := today.percent(today.net[replay.All]), today.percent(today.twice)
		reached := "no"
		if all >= goal.all && twice >= goal.twice {
			reached = "yes"
		}
		text += fmt.Sprintf("| %s, all: %+.0f %%, misses twice %+.0f | %+.1f, %+.1f (%+.1f, %+.1f) | %s |\n", goal.client, goal.all, goal.twice, all, twice,
			then.percent(then.net[replay.All]), then.percent(then.twice), reached)
		if goal.client == "Claude Code" {
			lose := "no"
			if today.losing() <= 4 {
				lose = "yes"
			}
			text += fmt.Sprintf("| %s, all: at most 4 %% of the sessions lose | %.0f %% (%.0f %%) | %s |\n", goal.client, today.losing(), then.losing(), lose)
		}
	}
	return text
}

// rows are those of the README's table, by the word that each begins with.
var rows = []struct {
	name   string
	policy replay.Policy
}{{"**Clearing**", replay.GC}, {"**Prefix**", replay.Context}, {"**Hooks**", replay.Hook}}

// clients returns the last cells of a row of the README.
func (p *page) clients(policy replay.Policy) string {
	text := " |"
	for _, client := range columns {
		f := sum(p.then.clients, client)
		text += fmt.Sprintf(" %+.1f |", f.percent(f.net[policy]))
	}
	return text
}

// inReadme returns the README with this page's figures in the last three cells of its rows. What stands before them stays.
func (p *page) inReadme(text string) (string, error) {
	for _, row := range rows {
		cells := regexp.MustCompile(`(?m)^(\| ` + regexp.QuoteMeta(row.name) + `.*?)( \|[^|\n]*){3} \|$`)
		if len(cells.FindAllString(text, -1)) != 1 {
			return "", errors.New("the README has not one row that begins with " + row.name)
		}
		text = cells.ReplaceAllString(text, "${1}"+strings.ReplaceAll(p.clients(row.policy), "$", "$$"))
	}
	return text, nil
}
