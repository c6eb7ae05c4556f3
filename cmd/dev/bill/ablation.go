package main

import (
	"math/rand/v2"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/states/replay"
)

// ablation names a part of the pruner that is switched off to measure its contribution.
type ablation string

const (
	noContext   ablation = "session context"     // the pruner gets only the question
	noLearning  ablation = "learned ranking"     // lines are ranked by the hand-written rules alone
	noDecision  ablation = "decision"            // every result that is large enough is pruned
	noRelevance ablation = "choice of the lines" // as many lines in as many gaps, at other positions
)

// without returns the experiment that switches a part off.
func without(part ablation) replay.Experiment {
	switch part {
	case noContext:
		return replay.Experiment{Know: func(r *existing.Result) { r.Context = nil }}
	case noLearning:
		return replay.Experiment{Know: func(r *existing.Result) { r.Rules = true }}
	case noDecision:
		return replay.Experiment{
			Asks: func(sessions.ResultCost, bool) bool { return true },
			Decide: func(d *history.Decision, r sessions.ResultCost) {
				d.Prune = d.Prune || r.Tokens >= history.MinTokens && r.Kind != history.Other
			},
		}
	case noRelevance:
		return replay.Experiment{Cut: shuffled}
	}
	return replay.Experiment{}
}

// shuffled returns a cut with as many lines in as many pieces, rotated by a pseudo-random number of lines.
// The number depends only on seed.
func shuffled(c existing.Cut, seed int) existing.Cut {
	if c.Whole() || c.Total == 0 {
		return c
	}
	random := rand.New(rand.NewPCG(uint64(seed), uint64(c.Total)))
	by := random.IntN(c.Total)
	kept := make([]int, 0, len(c.Kept))
	for _, n := range c.Kept {
		kept = append(kept, (n-1+by)%c.Total+1)
	}
	slices.Sort(kept)
	c.Kept = kept
	return c
}

// asInstructed is the habit that the instructions of the server ask for.
const asInstructed = "reads and searches"

// habit says on which calls of this program's tools a model writes a question. It never does when it opens a narrow range
// or is about to edit the file.
type habit struct {
	name string
	asks func(sessions.ResultCost) bool
}

var habits = []habit{
	{"on every call", func(sessions.ResultCost) bool { return true }},
	{asInstructed, func(r sessions.ResultCost) bool { return r.Kind != history.Bash }},
	{"where the result is long", func(r sessions.ResultCost) bool { return r.Tokens >= history.MinTokens }}, // it guesses right which are
}
