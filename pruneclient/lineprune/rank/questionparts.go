package rank

import (
	"regexp"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// partEnd matches the end of one part of a question: the mark after a sentence, or "and" before a word that
// opens another question. The first group is that word, which belongs to the next part.
var partEnd = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)[?;]+\s+|\n+|,?\s+(?:and|or)\s+(?:also\s+|then\s+)?(` + strings.Join(doc.ListWords("english", "openers"), "|") + `)\s`)
})

// Parts returns the parts of a question that asks for several things ("how does it retry, and where is the
// limit set?"), or nil. A part that names fewer than doc.PartTerms things is left out, because it asks
// nothing without the others.
func (q *Question) Parts() []string {
	var parts []string
	from := 0
	for _, m := range append(partEnd().FindAllStringSubmatchIndex(q.Text, -1), []int{len(q.Text), len(q.Text), -1, -1}) {
		if part := strings.TrimSpace(q.Text[from:m[0]]); namesEnough(part) {
			parts = append(parts, part)
		}
		if from = m[1]; m[2] >= 0 {
			from = m[2]
		}
	}
	if len(parts) < 2 {
		return nil
	}
	return parts[:min(len(parts), doc.MostParts)]
}

// namesEnough reports whether a part of a question says what it looks for.
func namesEnough(part string) bool {
	named := 0
	for _, g := range ParseQuestion(part).Groups {
		if g.Bits > 0 && g.Weight >= 1 {
			named++
		}
	}
	return named >= doc.PartTerms
}
