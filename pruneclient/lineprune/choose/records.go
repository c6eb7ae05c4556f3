package choose

import (
	"regexp"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/logs"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/rank"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/tuning"
)

// OfRecords reports whether a text is a list of records, and no program or log of a run: at least leastRecords matches, items
// of JSON, lines, or paragraphs of one shape. file says whether the text was read from a file.
func OfRecords(t *rank.Text, file bool) bool {
	switch {
	case t.Kind == doc.Grep:
		return len(t.Doc.Lines) >= leastRecords
	case t.Data != nil && !t.Data.Solid && t.Data.Records(0, len(t.Doc.Lines)) >= leastRecords:
		return !(&chooser{Text: t}).countIsRead()
	case t.Kind == doc.Code && (file || len(t.Outline.Units) > 0):
		return false
	}
	return alikeInShape(t.Doc)
}

// leastRecords is the number of records that make a list.
const leastRecords = 8

// alikeInShape reports whether most lines of a text have one shape, or most of those at which something begins: lines
// without indentation, or paragraphs.
func alikeInShape(d *doc.Document) bool {
	var all, outer, paragraphs shapes
	for i, line := range d.Lines {
		if d.Blank(i) {
			continue
		}
		all.add(line, i)
		if d.Indent[i] == 0 {
			outer.add(line, i)
		}
		if i == 0 || d.Blank(i-1) {
			paragraphs.add(line, i)
		}
	}
	return all.most(mostAlike) || outer.most(mostAlike) || paragraphs.most(someAlike)
}

// The fractions of lines that have one shape. The body of a record may have paragraphs, too.
const (
	mostAlike = 0.6
	someAlike = 0.3
)

// shapes counts lines by their shape.
type shapes struct {
	lines    int
	count    map[string]int
	progress map[string]int // those that only say that something runs or went well
}

func (s *shapes) add(line string, i int) {
	if s.count == nil {
		s.count, s.progress = map[string]int{}, map[string]int{}
	}
	s.lines++
	line = line[:min(len(line), tuning.TemplatePrefix)]
	moves := progress().MatchString(line) || logs.LogShape(line) && logs.Signal(line) == 0 && !strings.Contains(line, "warning")
	for _, shape := range shapesOf(line) {
		s.count[shape]++
		if moves {
			s.progress[shape]++
		}
	}
}

// most reports whether at least leastRecords lines, and the given fraction of all, have one shape.
func (s *shapes) most(share float64) bool {
	for shape, n := range s.count {
		if n >= leastRecords && float64(n) >= share*float64(s.lines) && s.progress[shape]*2 < n {
			return true
		}
	}
	return false
}

// progress matches words of lines that say that something runs or went well.
var progress = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:pass(?:ed|ing)?|ok|run|running|ran|success\w*|compil(?:ing|ed)|download(?:ing|ed)|build(?:ing)?|built|install(?:ing|ed)|info|debug)\b|[✓✔√]`)
})

// shapesOf returns the shapes of a line: how it begins, up to its first word, and its second word.
func shapesOf(line string) []string {
	words := strings.Fields(line[:min(len(line), tuning.TemplatePrefix)])
	if len(words) == 0 {
		return nil
	}
	first := masked(words[0])
	if len(words) == 1 {
		return []string{first}
	}
	second := strings.ToLower(words[1])
	if strings.ContainsAny(second, "0123456789") {
		second = masked(second)
	}
	list := []string{first, "w " + second}
	if strings.Trim(first, "w") == "" {
		list[0] = strings.ToLower(words[0])
	}
	return list
}

// masked returns a word with its names as "w" and its numbers as "0". A key such as "warning:" stays.
func masked(word string) string {
	if strings.HasSuffix(word, ":") && strings.Trim(strings.ToLower(word[:len(word)-1]), "abcdefghijklmnopqrstuvwxyz") == "" {
		return strings.ToLower(word)
	}
	var out strings.Builder
	before := ""
	for _, r := range word {
		mark := string(r)
		switch {
		case r >= '0' && r <= '9':
			mark = "0"
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80 || r == '_' || r == '-' && before == "w" || (r == '/' || r == '.') && (before == "w" || before == "0"):
			mark = "w"
		}
		if mark == before && (mark == "w" || mark == "0") || before == "w" && mark == "0" {
			continue
		}
		out.WriteString(mark)
		before = mark
	}
	return out.String()
}
