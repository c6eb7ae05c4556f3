package rank

import (
	"slices"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

type answerKind uint8

const (
	WantPassage  answerKind = iota // the lines that answer the question
	WantOutline                    // a summary or an outline of the text
	WantComputed                   // a count, a sum or an extreme, which depends on every line
	WantExtent                     // possibly a computed answer or a list of all items; in a table it depends on every row
	WantJudged                     // whether the text is correct, which depends on every line
)

// WantOf returns what a question asks for, judged by its wording alone. Whether the text contains it is another
// matter: a log may well state "how many tests failed".
func WantOf(q *Question) answerKind {
	text := normal(q.Text)
	switch {
	case hasPhrase(text, outlinePhrases()) && namesNothing(q):
		return WantOutline
	case hasPhrase(text, judgePhrases()) && namesNothing(q):
		return WantJudged
	case hasPhrase(text, computePhrases()):
		return WantComputed
	case hasPhrase(text, extentPhrases()):
		return WantExtent
	}
	return WantPassage
}

// AboutAll reports whether a question is about every record of a list: it asks to count, list, summarize or
// compare them.
func AboutAll(q *Question) bool {
	text := normal(q.Text)
	return hasPhrase(text, computePhrases()) || hasPhrase(text, allPhrases())
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

func hasPhrase(text string, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(text, p) })
}

// namesNothing reports whether a question names no particular subject: "an overview of this file" does not,
// "an overview of the retry logic" does.
func namesNothing(q *Question) bool {
	return !slices.ContainsFunc(q.Groups, func(g group) bool {
		return g.Bits > 0 && g.Weight >= 1 && !subjects()[doc.StemOf(g.Name)]
	})
}
