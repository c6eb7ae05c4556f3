package choose

import (
	"slices"

	"mcp-pruner/pruneclient/lineprune/rank"
	"mcp-pruner/pruneclient/lineprune/render"
)

// chooser holds the state of one choice.
type chooser struct {
	*rank.Text
	rank.Relevance
	opts Options

	statements []uint64 // per line, the statement that printed it, for a log dominated by one; nil: compare templates instead

	confidence float64
}

func (p *chooser) result() Result {
	switch {
	case p.wantsOutline():
		p = p.outlined()
	case p.budgeted() && p.Relevance.Best() <= 0:
		p = p.introduced()
	}
	keep, warnings := p.decide()
	if slices.Contains(warnings, NoGain) {
		p = p.thinned()
		keep, warnings = p.decide()
	}
	res := Result{Kind: p.Kind, Total: len(keep), Confidence: p.confidence, Warnings: warnings}
	res.set(keep)
	res.Note = p.note(res, warnings)
	if p.opts.Explain {
		res.Lines, res.Terms = p.explain(keep), p.terms()
	}
	return res
}

// decide returns the reason for keeping each line, and the warnings.
func (p *chooser) decide() (keep []cause, warnings []string) {
	warnings, whole := p.judge()
	keep = make([]cause, len(p.Doc.Lines))
	if !whole {
		keep = p.choose()
		if why := p.objection(keep); why != "" {
			whole, warnings = true, appendOnce(warnings, why)
		}
	}
	if whole {
		for i := range keep {
			keep[i] = wholeText
		}
	}
	return keep, warnings
}

func (p *chooser) budgeted() bool { return p.opts.Budget > 0 }

// set fills Kept and Blocks.
func (res *Result) set(keep []cause) {
	kept := 0
	for _, c := range keep {
		if c != dropped {
			kept++
		}
	}
	res.Kept = slices.Grow(res.Kept, kept)
	for i := 0; i < len(keep); i++ {
		if keep[i] != dropped {
			res.Kept = append(res.Kept, i+1)
			continue
		}
		start := i
		for i+1 < len(keep) && keep[i+1] == dropped {
			i++
		}
		res.Blocks = append(res.Blocks, render.Block{Start: start + 1, End: i + 1, Reason: offFocus})
	}
}

const offFocus = "hors focus"
