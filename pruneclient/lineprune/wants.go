package lineprune

import (
	"strconv"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/rank"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// wantsOutline reports whether the question asks for an overview and the text has an outline.
func (p *chooser) wantsOutline() bool {
	readable := p.Kind == doc.Code || p.Kind == doc.Docs
	return p.Want == rank.WantOutline && !p.structured() && readable && p.Doc.Total >= doc.ShortText && !p.opts.LimitRatio
}

// outlined returns a chooser in which the text's outline is the relevant part, limited to a small fraction
// of the tokens.
func (p *chooser) outlined() *chooser {
	out := *p
	out.Relevance.Score = rank.OutlineScores(p.Doc, p.Shape, p.Outline)
	out.confidence = 1
	if !p.budgeted() {
		out.opts.Budget = doc.OutlineShare
	}
	return &out
}

// introduced returns a chooser in which the text's beginning and outline are the relevant part. It is used
// when no term of the question occurs and a budget must be filled anyway.
func (p *chooser) introduced() *chooser {
	out := *p
	out.Relevance.Score = rank.OutlineScores(p.Doc, p.Shape, p.Outline)
	return &out
}

// needsAll reports whether only the whole text can answer: the question asks for a number or an extreme
// over many records, or for a judgement, or is about all records of structured data.
func (p *chooser) needsAll() bool {
	if p.structured() && (p.Data.Solid || p.asksForAll()) {
		return true
	}
	switch p.Want {
	case rank.WantJudged:
		return p.Kind == doc.Code || p.Kind == doc.Docs
	case rank.WantExtent:
		return p.Shape == structure.Table
	case rank.WantComputed:
		if p.countIsRead() {
			return false
		}
		records := p.Shape != structure.Plain || p.Kind == doc.Grep || p.Kind == doc.Logs && p.alike()
		return records && !(p.Kind == doc.Logs && p.Question.Failure)
	}
	return false
}

// asksForAll reports whether a question about structured data is about all of its records. A count that the
// text states is not.
func (p *chooser) asksForAll() bool {
	return rank.AboutAll(p.Question) && !p.countIsRead()
}

// countIsRead reports whether the question asks for a number that the text states.
func (p *chooser) countIsRead() bool {
	return p.Want == rank.WantComputed && p.Shape == structure.Keys && p.countIsAKey()
}

// countIsAKey reports whether the text has the number that "how many X" asks for, as the value of a key X.
func (p *chooser) countIsAKey() bool {
	_, counted, ok := strings.Cut(strings.ToLower(p.Question.Text), "how many ")
	name, _, _ := strings.Cut(strings.TrimRight(counted, "?"), " ")
	if !ok || name == "" {
		return false
	}
	for _, i := range structure.LinesAt(p.Doc, p.Outline, []string{name}) {
		_, value, _ := strings.Cut(p.Doc.Lines[i], name)
		value = strings.Trim(value, " \t\r:=,\"'")
		if _, err := strconv.Atoi(value); err == nil {
			return true
		}
	}
	return false
}

// ruled reports whether the rules choose regardless of a learned ranking. They handle tables, and questions
// that no single passage answers.
func (p *chooser) ruled() bool {
	return p.structured() || p.Shape == structure.Table || p.wantsOutline() || !p.budgeted() && p.needsAll()
}

// alike reports whether all lines were printed by one statement.
func (p *chooser) alike() bool {
	count := map[uint64]int{}
	most := 0
	for _, line := range p.Doc.Lines {
		h := structure.Template(line)
		count[h]++
		most = max(most, count[h])
	}
	return most*10 >= len(p.Doc.Lines)*9
}
