package lineprune

import (
	"cmp"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/learned"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// Weighed returns the same survey ranked by learned weights instead of the rules' score, which is one of
// the weights' features. If the question asks about the failure in a log, the rules still choose.
func (s Survey) Weighed(weights *learned.Weights) Survey {
	if s.tellsOfFailure() {
		return s
	}
	r := weights.Rank(s.Input())
	s.ranking = &r
	return s
}

// Input returns the input of the learned ranking for this text and question.
func (s Survey) Input() *learned.Input {
	call := s.opts.Call
	return &learned.Input{
		Lines: s.text.Doc.Flat(), Tokens: s.text.Doc.Tokens, Relevant: s.relevance.Score, Kind: learnedKinds[s.Kind],
		Question: s.text.Question.Text, Tool: call.Tool,
		File: cmp.Or(s.opts.File, call.File()), Command: cmp.Or(s.opts.Command, call.Command()),
		Pattern: call.Pattern(), FirstLine: call.FirstLine(), Events: call.Context, Asked: call.Asked, Careful: call.Careful, Boldness: call.Boldness,
	}
}

var learnedKinds = map[Kind]learned.Kind{Code: learned.Code, Logs: learned.Logs, Docs: learned.Docs, Grep: learned.Grep}

// weighs reports whether the learned weights choose the lines. They need a known call or session. Callers
// that set limits in lines get the rules, and so do texts too long to rank in acceptable time.
func (o Options) weighs(lines int) bool {
	limited := o.LimitRatio || o.MaxPruneRatio > 0 || o.MinKeepLines > 0
	return !limited && lines <= learned.MaxLines && o.calls()
}

// calls reports whether the call or its session is known.
func (o Options) calls() bool { return len(o.Call.Args)+len(o.Call.Context) > 0 }

func (o Options) weights() *learned.Weights {
	if o.Weights != nil {
		return o.Weights
	}
	return learned.Embedded(len(o.Call.Context) > 0)
}

// precise reports whether the question was written for this text and matches it so well that the rules
// alone suffice. The rules then cut more than the weights would. The weights have seen few files of
// nested keys, so there the rules need no more evidence than a pruned text needs anyway.
func (s Survey) precise() bool {
	least := doc.PreciseConfidence
	if s.text.Shape == structure.Keys {
		least = doc.MinConfidence
	}
	return s.opts.Call.Asked && s.opts.Budget == 0 && s.confidence >= least
}

// rulesMayCut reports whether the rules get a try at a text that the weights leave whole: a log, and a text for which a
// question was written, where the weights find a use for most lines. The words of such a question may stand in all of a
// file's functions, which look alike to the weights, while the rules find the one that has most of them.
func (s Survey) rulesMayCut(res Result) bool {
	return res.Whole() && (s.Kind == Logs || s.opts.Call.Asked && slices.Contains(res.Warnings, NoGain))
}

// tellsOfFailure reports whether the question asks about the failure in a log that has one. The rules
// decide there, because they know more kinds of failure than the recorded sessions contain.
func (s Survey) tellsOfFailure() bool {
	return s.Kind == Logs && s.text.Question.Failure && s.confidence >= doc.MinConfidence
}
