package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/replay"
)

// evalContext evaluates the policy context alone, and writes its block of a page anew.
func evalContext(ctx context.Context, data, path string) error {
	opened, err := os.MkdirTemp("", "bill-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(opened)
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var rows strings.Builder
	for _, one := range sets {
		if err := prefixRows(ctx, &rows, fixtures{dir: data, opened: opened}, one); err != nil {
			return err
		}
	}
	rules, err := rulesTable(ctx, fixtures{dir: data, opened: opened})
	if err != nil {
		return err
	}
	page, err := inContext(string(text), prefixHead+rows.String()+rules)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(page), 0o644)
}

// prefixRows writes a row for each repository of a set.
func prefixRows(ctx context.Context, b *strings.Builder, f fixtures, one set) error {
	byRepository, err := prefixSavings(ctx, f, one, sessions.StandardRule())
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(byRepository)) {
		b.WriteString(prefixRow(one.name, name, byRepository[name]))
	}
	return nil
}

// prefixSavings returns what the policy context does by a rule to each session of a set, by repository.
func prefixSavings(ctx context.Context, f fixtures, one set, rule sessions.PrefixRule) (map[string][]replay.PrefixSaving, error) {
	byRepository := map[string][]replay.PrefixSaving{}
	s, err := f.settings(one, replay.Experiment{Rule: rule}, replay.Context)
	if err != nil {
		return nil, err
	}
	s.Chosen = func(f *replay.Figures) {
		name := one.repository(f.Session)
		byRepository[name] = append(byRepository[name], f.PrefixSaving())
	}
	_, _, err = replay.Replay(ctx, s)
	return byRepository, err
}

// isJudged reports whether a session has parts of known size and as many earlier ones as a choice needs.
func isJudged(s replay.PrefixSaving) bool { return s.Earlier >= sessions.MinSeen && s.Known > 0 }

// prefixRow returns the row of a repository.
func prefixRow(set, repository string, all []replay.PrefixSaving) string {
	var sum replay.PrefixSaving // of those that are judged
	var off []int
	hurt, known, whole := 0, 0.0, 0.0
	for _, s := range all {
		known, whole = known+s.Known, whole+s.Prefix
		if !isJudged(s) {
			continue
		}
		off = append(off, s.Off)
		sum.Net += s.Net
		sum.Bill += s.Bill
		sum.Known += s.Known
		if s.Hurt {
			hurt++
		}
	}
	median := "-"
	if slices.Sort(off); len(off) > 0 {
		median = fmt.Sprint(off[len(off)/2])
	}
	return fmt.Sprintf("| %s | %s | %d | %d | %s | %s | %s | %s | %s |\n", set, repository, len(all), len(off), median,
		share(sum.Net, sum.Bill), share(sum.Net, sum.Known), share(float64(hurt), float64(len(off))), share(whole-known, whole))
}

// share writes a share in percent, a dash where there is no whole.
func share(part, whole float64) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*part/whole)
}

const (
	prefixBegin = "<!-- measured: context -->\n"
	prefixEnd   = "<!-- end of measured -->"

	prefixHead = `
The recorded sessions of [BILL.md](BILL.md), by ` + "`make context-eval`" + `: before each session, what could go by the earlier ones of its project
is switched off, and the session is charged for what it then lacks. Judged are the sessions with enough earlier ones and with parts of known size: the client's
own tools where its version is recorded and was measured, and the skills, agents and servers that the transcript lists.
"Of the known" is the saving as a share of what these parts cost. Unknown is the share, in all sessions, of the prefix's cost that is in parts of
no known size: system prompt, memory files, definitions of servers, and a sub-agent's whole prefix.

| set | repository | sessions | judged | tokens off, median | of the bill | of the known | sessions hurt | unknown |
|---|---|---|---|---|---|---|---|---|
`
)

// inContext returns a page with other text between the markers.
func inContext(page, text string) (string, error) {
	before, rest, begins := strings.Cut(page, prefixBegin)
	_, after, ends := strings.Cut(rest, prefixEnd)
	if !begins || !ends {
		return "", errors.New("the page lacks " + strings.TrimSpace(prefixBegin) + " or " + prefixEnd + " behind it")
	}
	return before + prefixBegin + text + "\n" + prefixEnd + after, nil
}
