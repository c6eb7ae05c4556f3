// Package overview recognises questions that no passage of a text answers: for an overview,
// for a number, for the largest or smallest, for all there are, for a judgement.
package overview

import (
	"strings"

	"mcp-pruner/pruneclient/lineprune/query"
	"mcp-pruner/pruneclient/lineprune/tuning"
	"mcp-pruner/pruneclient/lineprune/words"
)

// Want is what a question wants of a text.
type Want uint8

// What questions want.
const (
	Passage  Want = iota // the lines that answer it
	Outline              // what the text is about, or what is in it
	Computed             // a count, a sum or an extreme: it takes every line to know
	Extent               // perhaps that, or all of something: of a table it takes every row
	Judged               // whether the text is right: it takes every line, too
)

// Of is what a question wants, as far as its words tell. What it can have depends on the text:
// "how many tests failed" is a number that a log may well say.
func Of(q *query.Question) Want {
	text := normal(q.Text)
	switch {
	case has(text, outlinePhrases) && namesNothing(q):
		return Outline
	case has(text, judgePhrases) && namesNothing(q):
		return Judged
	case has(text, computePhrases):
		return Computed
	case has(text, extentPhrases):
		return Extent
	}
	return Passage
}

var (
	outlinePhrases = tuning.Parts("english", "overview")
	judgePhrases   = tuning.Parts("english", "judgement")
	extentPhrases  = tuning.Parts("english", "extent")
	computePhrases = tuning.Parts("english", "compute")
	subjects       = words.StemSet(tuning.Words("english", "subjects"))
)

// normal is a question in lower case, its words between single spaces.
func normal(question string) string {
	return " " + strings.Join(strings.FieldsFunc(strings.ToLower(question), func(r rune) bool {
		return r < 0x80 && !words.InWord(words.Class[r]) && r != '\'' && r != '-'
	}), " ") + " "
}

func has(text string, phrases []string) bool {
	for _, p := range phrases {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}

// namesNothing is true of a question that names nothing in particular: "an overview of this
// file", but not "an overview of the retry logic".
func namesNothing(q *query.Question) bool {
	for _, g := range q.Groups {
		if g.Bits > 0 && g.Weight >= 1 && !subjects[words.StemOf(g.Name)] {
			return false
		}
	}
	return true
}
