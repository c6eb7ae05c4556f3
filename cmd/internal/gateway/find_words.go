package gateway

import (
	_ "embed"
	"iter"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// eachWord yields the stem of each word of a text, and the word in lower case. Identifiers are split into their parts, and
// scripts that are written without spaces into pairs of adjacent characters.
func eachWord(text string) iter.Seq2[string, string] {
	return func(yield func(stem, word string) bool) {
		more := true
		for field := range strings.FieldsFuncSeq(text, func(r rune) bool { return r < utf8.RuneSelf && !doc.InWord(byte(r)) }) {
			ascii := strings.FieldsFunc(field, func(r rune) bool { return r >= utf8.RuneSelf })
			for _, word := range ascii {
				doc.EachPart(word, func(part string) { more = more && yield(doc.StemOf(part), strings.ToLower(part)) })
			}
			if len(ascii) != 1 || len(ascii[0]) != len(field) {
				doc.EachRuneWord(field, func(word string) { more = more && yield(word, word) })
			}
			if !more {
				return
			}
		}
	}
}

//go:embed synonyms.txt
var ownSynonyms string

// synonyms returns the stems that mean the same as a stem: to programmers, as the line pruner knows them, and to users of tools.
var synonyms = sync.OnceValue(func() map[string][]string {
	return sameStems(append(doc.List("synonyms"), strings.Split(ownSynonyms, "\n")...))
})

// sameStems reads a table of words that mean the same, one idea a line.
func sameStems(lines []string) map[string][]string {
	all := map[string][]string{}
	for _, line := range lines {
		if strings.HasPrefix(line, "#") {
			continue
		}
		idea := strings.Fields(line)
		for i := range idea {
			idea[i] = doc.StemOf(idea[i])
		}
		for _, a := range idea {
			for _, b := range idea {
				if a != b {
					all[a] = append(all[a], b)
				}
			}
		}
	}
	return all
}
