package choose

import (
	"mcp-pruner/pruneclient/lineprune/doc"
	"mcp-pruner/pruneclient/lineprune/overview"
	"mcp-pruner/pruneclient/lineprune/structure"
	"mcp-pruner/pruneclient/lineprune/tuning"
)

// wantsOutline says whether the question is for an overview of a text that has an outline.
func (p *chooser) wantsOutline() bool {
	readable := p.Kind == doc.Code || p.Kind == doc.Docs
	return p.Want == overview.Outline && readable && p.Doc.Total >= tuning.ShortText && !p.opts.LimitRatio
}

// outlined is the same with the text's outline for what is relevant, in a small part of the
// tokens.
func (p *chooser) outlined() *chooser {
	out := *p
	out.Relevance.Score = overview.Scores(p.Doc, p.Shape, p.Outline)
	out.confidence = 1
	if !p.budgeted() {
		out.opts.Budget = tuning.OutlineShare
	}
	return &out
}

// introduced is the same with the text's beginning and outline for what is relevant: nothing
// in it matches the question, and a budget wants some of it.
func (p *chooser) introduced() *chooser {
	out := *p
	out.Relevance.Score = overview.Scores(p.Doc, p.Shape, p.Outline)
	return &out
}

// needsAll says whether only the whole text answers: where the question wants a number or an
// extreme of what is a record of many things, or a judgement.
func (p *chooser) needsAll() bool {
	switch p.Want {
	case overview.Judged:
		return p.Kind == doc.Code || p.Kind == doc.Docs
	case overview.Extent:
		return p.Shape == structure.Table
	case overview.Computed:
		records := p.Shape != structure.Plain || p.Kind == doc.Grep || p.Kind == doc.Logs && p.alike()
		return records && !(p.Kind == doc.Logs && p.Question.Failure)
	}
	return false
}

// ruled says whether the rules choose whatever a learned ranking says: they know tables, and
// questions that no passage answers.
func (p *chooser) ruled() bool {
	return p.Shape == structure.Table || p.wantsOutline() || !p.budgeted() && p.needsAll()
}
