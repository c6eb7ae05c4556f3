package replay

import (
	"math/rand/v2"
	"slices"

	"mcp-pruner/cmd/internal/fresh"
	"mcp-pruner/pruneclient/history"
)

// Ablation is a part of the pruner that is taken away to see what it is worth.
type Ablation string

// The ablations.
const (
	Context   Ablation = "session context"     // the pruner is told the question only
	Learning  Ablation = "learned ranking"     // lines are ranked by the rules alone
	Decision  Ablation = "decision"            // everything large enough is pruned
	Relevance Ablation = "choice of the lines" // as many lines in as many gaps, elsewhere
)

// ablate takes away what the trial has to do without.
func (t *trial) ablate(a *attempt, known *asked, r *result) {
	switch {
	case t.without == Context:
		known.context = nil
	case t.without == Decision && r.tokens >= history.MinTokens && r.kind != history.Other:
		a.decision.Prune = true
	}
}

// shuffled keeps as many lines in as many pieces, turned by a random number of lines
// that is the same on every run.
func shuffled(c fresh.Cut, seed int) fresh.Cut {
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

// interval is the 95 % interval of a pooled net in percent, by drawing sessions anew.
func interval(nets [][2]float64) [2]float64 {
	if len(nets) == 0 {
		return [2]float64{}
	}
	const draws = 1000
	random := rand.New(rand.NewPCG(7, uint64(len(nets))))
	pooled := make([]float64, draws)
	for d := range pooled {
		var net, bill float64
		for range nets {
			one := nets[random.IntN(len(nets))]
			net, bill = net+one[0], bill+one[1]
		}
		pooled[d] = percent(net, bill)
	}
	slices.Sort(pooled)
	return [2]float64{pooled[draws*25/1000], pooled[draws*975/1000]}
}
