package replay

import (
	"math/rand/v2"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
)

// Ablation names a part of the pruner that is switched off to measure its contribution.
type Ablation string

// The ablations.
const (
	Context   Ablation = "session context"     // the pruner gets only the question
	Learning  Ablation = "learned ranking"     // lines are ranked by the hand-written rules alone
	Decision  Ablation = "decision"            // every result that is large enough is pruned
	Relevance Ablation = "choice of the lines" // as many lines in as many gaps, at other positions
)

// ablate removes the ablated part's input or effect from an attempt.
func (t *trial) ablate(a *attempt, known *asked, r *result) {
	switch {
	case t.without == Context:
		known.context = nil
	case t.without == Decision && r.tokens >= history.MinTokens && r.kind != history.Other:
		a.decision.Prune = true
	}
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

// interval returns the 95 % bootstrap interval of a pooled net in percent, by resampling sessions.
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
