// Package overview recognises questions that no single passage of a text answers. They ask for an overview,
// a number, a maximum or minimum, all items, or a judgement.
package overview

import (
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/query"
)

// Want is the kind of answer that a question asks for.
type Want uint8

// The kinds of answers.
const (
	Passage  Want = iota // the lines that answer the question
	Outline              // a summary or an outline of the text
	Computed             // a count, a sum or an extreme, which depends on every line
	Extent               // possibly a computed answer or a list of all items; in a table it depends on every row
	Judged               // whether the text is correct, which depends on every line
)

// Of returns what a question asks for, judged by its wording alone. Whether the text contains it is another
// matter: a log may well state "how many tests failed".
func Of(q *query.Question) Want {
	text := normal(q.Text)
	switch {
	case has(text, outlinePhrases()) && namesNothing(q):
		return Outline
	case has(text, judgePhrases()) && namesNothing(q):
		return Judged
	case has(text, computePhrases()):
		return Computed
	case has(text, extentPhrases()):
		return Extent
	}
	return Passage
}

// AboutAll reports whether a question is about every record of a list: it asks to count, list, summarize or
// compare them.
func AboutAll(q *query.Question) bool {
	text := normal(q.Text)
	return has(text, computePhrases()) || has(text, allPhrases())
}

var (
	allPhrases     = sync.OnceValue(func() []string { return doc.ListParts("english", "about-all") })
	outlinePhrases = sync.OnceValue(func() []string { return doc.ListParts("english", "overview") })
	judgePhrases   = sync.OnceValue(func() []string { return doc.ListParts("english", "judgement") })
	extentPhrases  = sync.OnceValue(func() []string { return doc.ListParts("english", "extent") })
	computePhrases = sync.OnceValue(func() []string { return doc.ListParts("english", "compute") })
	subjects       = sync.OnceValue(func() map[string]bool { return doc.StemSet(doc.ListWords("english", "subjects")) })
)

// normal returns a question in lower case with its words separated by single spaces.
func normal(question string) string {
	return " " + strings.Join(strings.FieldsFunc(strings.ToLower(question), func(r rune) bool {
		return r < 0x80 && !doc.InWord(doc.ByteClass[r]) && r != '\'' && r != '-'
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

// namesNothing reports whether a question names no particular subject: "an overview of this file" does not,
// "an overview of the retry logic" does.
func namesNothing(q *query.Question) bool {
	for _, g := range q.Groups {
		if g.Bits > 0 && g.Weight >= 1 && !subjects()[doc.StemOf(g.Name)] {
			return false
		}
	}
	return true
}
