package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/replay"
)

const rulesHead = `
The sessions judged, together, by other bounds of the rule: how many sessions have to be seen, how many for what is often used late, how many tokens a part must
have, and what share of the sessions may have used it.

| sessions seen | of late ones | tokens | used in at most | of the bill | of the known | sessions hurt |
|---|---|---|---|---|---|---|
`

// rules are the bounds that are compared.
func rules() (list []sessions.PrefixRule) {
	for _, seen := range []int{5, sessions.MinSeen, 20} {
		for _, tokens := range []int{50, sessions.MinPartTokens, 500} {
			list = append(list, sessions.PrefixRule{Tokens: tokens, Seen: seen, Late: sessions.LateSeen})
		}
	}
	for _, rare := range []float64{0.02, 0.05, 0.1} {
		rule := sessions.StandardRule()
		rule.Rare = rare
		list = append(list, rule)
	}
	return append(list, sessions.PrefixRule{Tokens: sessions.MinPartTokens, Seen: sessions.MinSeen, Late: sessions.MinSeen})
}

// rulesTable compares the bounds of the rule, on the sessions that are judged by the standard ones.
func rulesTable(ctx context.Context, f fixtures) (string, error) {
	with := map[string]bool{} // the sets that have such sessions
	all := func(rule sessions.PrefixRule) (sum replay.PrefixSaving, judged, hurt int, err error) {
		for _, one := range sets {
			if have, known := with[one.name]; known && !have {
				continue
			}
			byRepository, err := prefixSavings(ctx, f, one, rule)
			if err != nil {
				return sum, 0, 0, err
			}
			before := judged
			for _, list := range byRepository {
				for _, s := range list {
					if !isJudged(s) {
						continue
					}
					judged++
					if s.Hurt {
						hurt++
					}
					sum.Net, sum.Bill, sum.Known = sum.Net+s.Net, sum.Bill+s.Bill, sum.Known+s.Known
					sum.Movable, sum.Unused = sum.Movable+s.Movable, sum.Unused+s.Unused
				}
			}
			with[one.name] = judged > before
		}
		return sum, judged, hurt, nil
	}
	var b strings.Builder
	b.WriteString(rulesHead)
	var ideal replay.PrefixSaving
	for _, rule := range rules() {
		sum, judged, hurt, err := all(rule)
		if err != nil {
			return "", err
		}
		ideal = sum
		row := []string{fmt.Sprint(rule.Seen), fmt.Sprint(rule.Late), fmt.Sprint(rule.Tokens), fmt.Sprintf("%.0f %%", 100*rule.Rare),
			share(sum.Net, sum.Bill), share(sum.Net, sum.Known), share(float64(hurt), float64(judged))}
		if rule == sessions.StandardRule() {
			for i := range row {
				row[i] = "**" + row[i] + "**"
			}
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	fmt.Fprintf(&b, "\nOf the known cost, %s is in parts that a rule may let go; the rest are tools that read, edit, search and run, which never go. "+
		"A rule that knew beforehand what each session\n"+
		"calls would save %s.\n", share(ideal.Movable, ideal.Known), share(ideal.Unused, ideal.Known))
	return b.String(), nil
}
