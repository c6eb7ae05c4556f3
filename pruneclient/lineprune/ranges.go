package lineprune

import (
	"math"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/learned"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// chooseRanges selects the ranges of lines whose expected use, according to a learned ranking, is worth their
// tokens including markers.
func chooseRanges(in input, ranking learned.Ranking) Result {
	if in.ruled() {
		return chooseLines(in)
	}
	keep, warnings := in.decideRanges(ranking)
	res := in.resultOf(keep, warnings)
	res.Scores = make([]float64, len(keep))
	for i, score := range ranking.Scores {
		res.Scores[i] = learned.Bits(score)
	}
	if in.opts.Explain {
		res.Lines, res.Terms = explainRanges(keep, ranking), termsOf(in.Text)
	}
	return res
}

func (in input) decideRanges(ranking learned.Ranking) (keep []cause, warnings []string) {
	whole := ""
	switch patched := in.patched(); {
	case patched != "":
		whole = patched
	case in.budgeted():
		return in.ranges(ranking), in.doubt()
	case in.Doc.Total < doc.ShortText:
		whole = TooShort
	case in.whole != "":
		whole = AskedWhole
	case in.doubts(ranking):
		whole = LowConfidence
	default:
		if keep = in.ranges(ranking); in.gains(keep) {
			return keep, nil
		}
		whole = NoGain
	}
	return everything(len(in.Doc.Lines)), []string{whole}
}

// ranges keeps the protected lines and, beside them, the best ranges.
func (in input) ranges(ranking learned.Ranking) []cause {
	s := in.selection()
	s.keepNamed()
	plan := ranking.Plan(doc.MarkerTokens)
	plan.Forced = make([]bool, len(s.keep))
	for i, c := range s.keep {
		plan.Forced[i] = c != dropped
	}
	chosen := make([]bool, len(s.keep))
	if in.budgeted() {
		chosen = s.within(plan)
	} else {
		plan.At(plan.Average()*in.share(ranking)/100, chosen)
	}
	for i, yes := range chosen {
		if yes && s.keep[i] == dropped {
			s.one(i, relevant)
		}
	}
	if in.Shape == structure.Keys { // a value without the keys that enclose it has no meaning
		s.surround()
	}
	s.complete(0)
	return s.keep
}

// doubts reports whether there is too little evidence of an answer. If the question was not written for
// this text and the session is known, there is no doubt: the session shows what is needed.
func (in input) doubts(ranking learned.Ranking) bool {
	switch {
	case ranking.Input.Asked:
		return in.confidence < doc.MinConfidence
	case ranking.Informed():
		return false
	}
	return in.confidence < doc.CallConfidence
}

// share returns the minimum gain per token of a kept range, in percent of the text's average gain per
// token. The loss of a needed line costs one further turn however long the text is, whereas savings grow
// with the length. Therefore the threshold rises with the length, by the square root.
func (in input) share(ranking learned.Ranking) int64 {
	share := in.shareOfKind(ranking)
	if ranking.Input.Careful {
		share *= doc.CarefulShare
	}
	share *= ranking.Boldness() * math.Sqrt(float64(in.Doc.Total)/doc.ShareTokens)
	return int64(min(max(share, doc.LeastShare), doc.MostShare))
}

// shareOfKind returns the share for a text of doc.ShareTokens tokens.
func (in input) shareOfKind(ranking learned.Ranking) float64 {
	switch {
	case !ranking.Informed():
		return doc.CallShare
	case ranking.Input.Asked:
		return doc.AskedShare
	case ranking.OfFile():
		return doc.FileShare
	case in.Kind == doc.Logs:
		return doc.LogShare
	case in.Kind == doc.Grep:
		return doc.MatchShare
	}
	return doc.OutputShare
}

// explainRanges returns for every line the features that raised its score and why it was kept or dropped.
func explainRanges(keep []cause, ranking learned.Ranking) []Line {
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
func (s *selection) within(plan *learned.Plan) []bool {
	budget := int(s.opts.Budget * float64(s.Doc.Total))
	allowance := budget
	for {
		chosen := plan.Within(allowance)
		over := s.tokensWith(chosen) - budget
		if over <= 0 || allowance <= 0 {
			return chosen
		}
		allowance = max(allowance-max(over, budget/budgetSteps+1), 0)
	}
}

// budgetSteps bounds how often a budget is tried that leaves more room for headings.
const budgetSteps = 20

// tokensWith returns the tokens of the kept and the chosen lines and of what they bring.
func (s *selection) tokensWith(chosen []bool) int {
	all := slices.Clone(s.keep)
	for i, yes := range chosen {
		if yes && all[i] == dropped {
			all[i] = relevant
		}
	}
	s.brings.complete(s.Doc, all)
	sum := 0
	for i, c := range all {
		if c != dropped {
			sum += int(s.Doc.Tokens[i])
		}
	}
	return sum
}
