package main

import (
	"context"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/replay"
)

// replayCase is one result of a session as training data: the information at the time of the call, and the lines that were
// used later.
type replayCase struct {
	replay.Known
	step int
	call history.ToolCall
	args map[string]any
	gold []int // 1-based lines that were used later; empty: no use could be shown
}

// replayCases calls each for every result of read, bash and grep with at least 60 lines or 4,000 bytes. Lines
// that the context had shown before are not gold, nor those of which a name alone was needed.
func replayCases(ctx context.Context, s sessions.Session, each func(replayCase)) error {
	b := sessions.NewBill(s, sessions.DefaultPrices)
	found := replay.NeedsOf(b)
	return replay.Walk(b, nil, func(index int, step sessions.Step, k replay.Known) error {
		r := b.Results[index]
		pruned := r.Kind == history.Read || r.Kind == history.Grep || r.Kind == history.Bash
		if !pruned || len(k.Body.Lines) < 60 && len(step.Out) < 4000 {
			return ctx.Err()
		}
		c := replayCase{Known: k, step: r.Step, call: r.Parsed, args: step.Args}
		for _, n := range found[index] {
			if judged := n.Rule == replay.RuleShort || n.Rule == replay.RuleWide || n.Rule == replay.RuleRewrite; !judged && len(n.Earlier) == 0 {
				c.gold = append(c.gold, n.Line+1)
			}
		}
		each(c)
		return nil
	})
}
