package lineprune

import (
	"strconv"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/rank"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// wantsOutline reports whether the question asks for an overview and the text has an outline.
func (in input) wantsOutline() bool {
	readable := in.Kind == doc.Code || in.Kind == doc.Docs
	return in.Want == rank.WantOutline && !structured(in.Text) && readable && in.Doc.Total >= doc.ShortText && !in.opts.LimitRatio
}

// outlined returns an input in which the text's outline is the relevant part, limited to a small fraction
// of the tokens.
func (in input) outlined() input {
	in = in.introduced()
	in.confidence = 1
	if !in.budgeted() {
		in.opts.Budget = doc.OutlineShare
	}
	return in
}

// introduced returns an input in which the text's beginning and outline are the relevant part. It is used
// when no term of the question occurs and a budget must be filled anyway.
func (in input) introduced() input {
	in.Relevance.Score = rank.OutlineScores(in.Doc, in.Shape, in.Outline)
	return in
}

// needsAll reports whether only the whole text can answer: the question asks for a number or an extreme
// over many records, or for a judgement, or is about all records of structured data.
func needsAll(t *rank.Text) bool {
	if structured(t) && (t.Data.Solid || rank.AboutAll(t.Question) && !countIsRead(t)) {
		return true
	}
	switch t.Want {
	case rank.WantJudged:
		return t.Kind == doc.Code || t.Kind == doc.Docs
	case rank.WantExtent:
		return t.Shape == structure.Table
	case rank.WantComputed:
		if countIsRead(t) {
			return false
		}
		records := t.Shape != structure.Plain || t.Kind == doc.Grep || t.Kind == doc.Logs && alike(t.Doc)
		return records && !(t.Kind == doc.Logs && t.Question.Failure)
	}
	return false
}

// countIsRead reports whether the question asks for a number that the text states.
func countIsRead(t *rank.Text) bool {
	return t.Want == rank.WantComputed && t.Shape == structure.Keys && countIsAKey(t)
}

// countIsAKey reports whether the text has the number that "how many X" asks for, as the value of a key X.
func countIsAKey(t *rank.Text) bool {
	_, counted, ok := strings.Cut(strings.ToLower(t.Question.Text), "how many ")
	name, _, _ := strings.Cut(strings.TrimRight(counted, "?"), " ")
	if !ok || name == "" {
		return false
	}
	for _, i := range structure.LinesAt(t.Doc, t.Outline, []string{name}) {
		_, value, _ := strings.Cut(t.Doc.Lines[i], name)
		value = strings.Trim(value, " \t\r:=,\"'")
		if _, err := strconv.Atoi(value); err == nil {
			return true
		}
	}
	return false
}

// ruled reports whether the rules choose regardless of a learned ranking. They handle tables, and questions
// that no single passage answers.
func (in input) ruled() bool {
	return structured(in.Text) || in.Shape == structure.Table || in.wantsOutline() || !in.budgeted() && needsAll(in.Text)
}

// alike reports whether all lines were printed by one statement.
func alike(d *doc.Document) bool {
	count := map[uint64]int{}
	most := 0
	for _, line := range d.Lines {
		h := structure.Template(line)
		count[h]++
		most = max(most, count[h])
	}
	return most*10 >= len(d.Lines)*9
}
