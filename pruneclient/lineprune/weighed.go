package lineprune

import (
	"cmp"

	"mcp-pruner/pruneclient/lineprune/learned"
	"mcp-pruner/pruneclient/lineprune/tuning"
)

// Weighed is the same survey ranked by learned weights instead of the rules' score,
// which is one of their features. A log that is asked for its failure keeps the rules.
func (s Survey) Weighed(weights *learned.Weights) Survey {
	if s.tellsOfFailure() {
		return s
	}
	r := weights.Rank(s.Input())
	s.ranking = &r
	return s
}

// Input is what the learned weights are asked about.
func (s Survey) Input() *learned.Input {
	call := s.opts.Call
	return &learned.Input{
		Lines: s.text.Doc.Lines, Tokens: s.text.Doc.Tokens, Relevant: s.relevance.Score, Kind: learnedKinds[s.Kind],
		Question: s.text.Question.Text, Tool: call.Tool,
		File: cmp.Or(s.opts.File, call.File()), Command: cmp.Or(s.opts.Command, call.Command()),
		Pattern: call.Pattern(), FirstLine: call.FirstLine(), Events: call.Context, Asked: call.Asked, Careful: call.Careful, Boldness: call.Boldness,
	}
}

var learnedKinds = map[Kind]learned.Kind{Code: learned.Code, Logs: learned.Logs, Docs: learned.Docs, Grep: learned.Grep}

// weighs says whether the learned weights choose the lines: where the call or its
// session is known. Callers that set limits in lines get the rules, and so do texts whose
// ranking would take too long.
func (o Options) weighs(lines int) bool {
	limited := o.LimitRatio || o.MaxPruneRatio > 0 || o.MinKeepLines > 0
	return !limited && lines <= learned.MaxLines && len(o.Call.Args)+len(o.Call.Context) > 0
}

func (o Options) weights() *learned.Weights {
	if o.Weights != nil {
		return o.Weights
	}
	return learned.Embedded()
}

// precise says whether the question was written for this text and says so well what it wants
// that the rules need no help. They cut closer then.
func (s Survey) precise() bool {
	return s.opts.Call.Asked && s.opts.Budget == 0 && s.confidence >= tuning.Precise
}

// tellsOfFailure says whether a log is asked for its failure and has one: the rules know
// more of those than any session shows.
func (s Survey) tellsOfFailure() bool {
	return s.Kind == Logs && s.text.Question.Failure && s.confidence >= tuning.MinConfidence
}
