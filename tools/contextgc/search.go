package contextgc

import (
	"regexp"
	"strings"
	"sync"
)

// Query holds the conditions of a search. Empty fields match anything.
type Query struct {
	Project string
	Text    string // words, all of which must occur
	Task    string
	Type    Type
	Tier    Tier
	Path    string
	Tags    []string
	Limit   int // maximum number of hits; 0: 20
}

// Hit is a segment found by a search, with the first line that contains one of the words.
type Hit struct {
	Segment
	Line    int
	Excerpt string
}

var word = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\p{L}\p{N}_]+`) })

// Words returns the words of a query in lower case.
func (q Query) Words() []string { return word().FindAllString(strings.ToLower(q.Text), -1) }

// Hit returns a found segment with the line of its text that is shown.
func (q Query) Hit(s Segment, text string) Hit {
	hit := Hit{Segment: s}
	hit.Line, hit.Excerpt = excerpt(text, q.Words())
	return hit
}

// maxExcerpt bounds the part of a line that a hit shows, in bytes.
const maxExcerpt = 160

// excerpt returns the number and text of the first line that contains one of the words, or
// of the first line if none does.
func excerpt(text string, words []string) (int, string) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		lower := strings.ToLower(line)
		for _, w := range words {
			if at := strings.Index(lower, w); at >= 0 {
				return n, around(line, at)
			}
		}
	}
	first, _, _ := strings.Cut(text, "\n")
	return 1, around(first, 0)
}

// around cuts a long line to the part that begins shortly before offset at.
func around(line string, at int) string {
	line = strings.TrimRight(line, "\r\n")
	if len(line) <= maxExcerpt {
		return strings.ToValidUTF8(line, "")
	}
	from := min(max(0, at-maxExcerpt/4), len(line)-maxExcerpt)
	return strings.ToValidUTF8(line[from:from+maxExcerpt], "")
}
