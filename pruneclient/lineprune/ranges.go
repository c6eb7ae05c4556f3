package lineprune

import (
	"math"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/learned"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/rank"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// chooseRanges selects the ranges of lines whose expected use, according to a learned ranking, is worth their
// tokens including markers.
func chooseRanges(t *rank.Text, r rank.Relevance, confidence float64, ranking learned.Ranking, opts choiceOptions) Result {
	p := &chooser{Text: t, Relevance: r, opts: opts, confidence: confidence}
	if p.ruled() {
		return p.result()
	}
	keep, warnings := p.decideRanges(ranking)
	res := p.resultOf(keep, warnings)
	res.Scores = make([]float64, len(keep))
	for i, score := range ranking.Scores {
		res.Scores[i] = learned.Bits(score)
	}
	if opts.Explain {
		res.Lines, res.Terms = p.explainRanges(keep, ranking), p.terms()
	}
	return res
}

func (p *chooser) decideRanges(ranking learned.Ranking) (keep []cause, warnings []string) {
	switch why := p.patched(); {
	case why != "":
		return p.everything(), []string{why}
	case p.budgeted():
		return p.ranges(ranking), p.doubt()
	case p.Doc.Total < doc.ShortText:
		return p.everything(), []string{TooShort}
	case p.opts.Whole != "":
		return p.everything(), []string{AskedWhole}
	case p.doubts(ranking):
		return p.everything(), []string{LowConfidence}
	}
	if keep = p.ranges(ranking); !p.gains(keep) {
		return p.everything(), []string{NoGain}
	}
	return keep, nil
}

// ranges keeps the protected lines and, beside them, the best ranges.
func (p *chooser) ranges(ranking learned.Ranking) []cause {
	keep := p.protect()
	p.newFill(keep).keepNamed()
	plan := ranking.Plan(doc.MarkerTokens)
	plan.Forced = make([]bool, len(keep))
	for i, c := range keep {
		plan.Forced[i] = c != dropped
	}
	chosen := make([]bool, len(keep))
	if p.budgeted() {
		chosen = p.within(plan, keep)
	} else {
		plan.At(plan.Average()*p.share(ranking)/100, chosen)
	}
	for i, yes := range chosen {
		if yes && keep[i] == dropped {
			keep[i] = relevant
		}
	}
	if p.Shape == structure.Keys {
		p.keepKeys(keep)
	}
	p.keepPassages(keep)
	p.keepListed(keep)
	p.tidyMatches(keep)
	if p.budgeted() {
		p.keepOne(keep)
	}
	p.settle(keep, p.closeGaps)
	return keep
}

// doubts reports whether there is too little evidence of an answer. If the question was not written for
// this text and the session is known, there is no doubt: the session shows what is needed.
func (p *chooser) doubts(ranking learned.Ranking) bool {
	switch {
	case ranking.Asked():
		return p.confidence < doc.MinConfidence
	case ranking.Informed():
		return false
	}
	return p.confidence < doc.CallConfidence
}

// share returns the minimum gain per token of a kept range, in percent of the text's average gain per
// token. The loss of a needed line costs one further turn however long the text is, whereas savings grow
// with the length. Therefore the threshold rises with the length, by the square root.
func (p *chooser) share(ranking learned.Ranking) int64 {
	share := p.shareOfKind(ranking)
	if ranking.Careful() {
		share *= doc.CarefulShare
	}
	share *= ranking.Boldness() * math.Sqrt(float64(p.Doc.Total)/doc.ShareTokens)
	return int64(min(max(share, doc.LeastShare), doc.MostShare))
}

// shareOfKind returns the share for a text of doc.ShareTokens tokens.
func (p *chooser) shareOfKind(ranking learned.Ranking) float64 {
	switch {
	case !ranking.Informed():
		return doc.CallShare
	case ranking.Asked():
		return doc.AskedShare
	case ranking.OfFile():
		return doc.FileShare
	case p.Kind == doc.Logs:
		return doc.LogShare
	case p.Kind == doc.Grep:
		return doc.MatchShare
	}
	return doc.OutputShare
}

// keepKeys keeps the keys that enclose kept lines: a value without its keys has no meaning.
func (p *chooser) keepKeys(keep []cause) {
	f := p.newFill(keep)
	f.allowance = f.used + int(doc.ExtraShare*float64(p.Doc.Total))
	f.surround()
}

func (p *chooser) everything() []cause {
	keep := make([]cause, len(p.Doc.Lines))
	keepAll(keep)
	return keep
}

// explainRanges returns for every line the features that raised its score and why it was kept or dropped.
func (p *chooser) explainRanges(keep []cause, ranking learned.Ranking) []Line {
	out := make([]Line, len(keep))
	for i, c := range keep {
		out[i] = Line{Score: learned.Bits(ranking.Scores[i]), Kept: c != dropped, Why: ranking.Why(i)}
		switch c {
		case relevant:
		case dropped:
			out[i].Why = "below the cut: " + out[i].Why
		default:
			out[i].Why = causeNames[c]
		}
	}
	return out
}

// within returns the best ranges that fit into the budget together with what they bring.
func (p *chooser) within(plan *learned.Plan, keep []cause) []bool {
	budget := int(p.opts.Budget * float64(p.Doc.Total))
	allowance := budget
	for {
		chosen := plan.Within(allowance)
		over := p.tokensWith(chosen, keep) - budget
		if over <= 0 || allowance <= 0 {
			return chosen
		}
		allowance = max(allowance-max(over, budget/budgetSteps+1), 0)
	}
}

// budgetSteps bounds how often a budget is tried that leaves more room for headings.
const budgetSteps = 20

// tokensWith returns the tokens of the kept and the chosen lines and of what they bring.
func (p *chooser) tokensWith(chosen []bool, keep []cause) int {
	all := slices.Clone(keep)
	for i, yes := range chosen {
		if yes && all[i] == dropped {
			all[i] = relevant
		}
	}
	p.brings.complete(p.Doc, all)
	sum := 0
	for i, c := range all {
		if c != dropped {
			sum += int(p.Doc.Tokens[i])
		}
	}
	return sum
}
