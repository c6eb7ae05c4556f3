package lineprune

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/rank"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// isOfRecords reports whether a text is a list of records: at least leastRecords matches, items of JSON, lines, or paragraphs of one
// shape. A program and the log of a run are no such list. file says whether the text was read from a file.
func isOfRecords(t *rank.Text, file bool) bool {
	switch {
	case t.Kind == doc.Grep:
		return len(t.Doc.Lines) >= leastRecords
	case t.Data != nil && !t.Data.Solid && t.Data.Records(0, len(t.Doc.Lines)) >= leastRecords:
		return !countIsRead(t)
	case t.Kind == doc.Code && (file || len(t.Outline.Units) > 0):
		return false
	}
	all, heads := shapesIn(t.Doc)
	return heads != nil || all.most(mostAlike) != ""
}

// leastRecords is the number of records that make a list.
const leastRecords = 8

// keepListed keeps the whole record of each kept line of a list, with its head and body: a body without its head is about
// nothing, and a head without its body says nothing. A budget is a hard limit.
func (s *selection) keepListed() {
	if s.budgeted() || !s.Listing || s.Data != nil || s.Kind == doc.Grep {
		return
	}
	_, heads := shapesIn(s.Doc)
	for start, end := 0, 0; heads != nil && start < len(s.keep); start = end {
		for end = start + 1; end < len(s.keep) && !heads[end]; end++ {
		}
		if !heads[start] || s.Doc.TokensOf(start, end) > doc.WholeRecord {
			continue
		}
		s.keepWhole(start, end)
	}
}

// shapesIn counts the lines of a text by their shape, and returns for each line whether a record begins there: a paragraph, or
// a line without indentation before one with it. heads is nil where too few of these have one shape.
func shapesIn(d *doc.Document) (all shapes, heads []bool) {
	var outer, paragraphs shapes
	begins := func(i int) bool {
		return i == 0 || d.Blank(i-1) || structure.Underline(d.Lines[i-1]) || d.Lines[i-1] == doc.GroupSeparator
	}
	bodies := 0
	for i, line := range d.Lines {
		if d.Blank(i) {
			continue
		}
		all.add(line)
		if d.Indent[i] == 0 {
			outer.add(line)
		} else if i > 0 && d.Indent[i-1] == 0 {
			bodies++
		}
		if begins(i) {
			paragraphs.add(line)
		}
	}
	isHead, shape := begins, paragraphs.most(someAlike)
	if shape == "" && bodies >= leastRecords {
		isHead, shape = func(i int) bool { return d.Indent[i] == 0 }, outer.most(mostAlike)
	}
	if shape == "" || all.most(mostAlike) != "" { // each line is a record
		return all, nil
	}
	heads = make([]bool, len(d.Lines))
	for i, line := range d.Lines {
		heads[i] = !d.Blank(i) && isHead(i) && slices.Contains(shapesOf(line), shape)
	}
	return all, heads
}

// The fractions of lines that have one shape. The body of a record may have paragraphs, too.
const (
	mostAlike = 0.6
	someAlike = 0.3
)

type shapes struct {
	lines    int
	count    map[string]int
	progress map[string]int // those that only say that something runs or went well
}

func (s *shapes) add(line string) {
	if s.count == nil {
		s.count, s.progress = map[string]int{}, map[string]int{}
	}
	s.lines++
	line = line[:min(len(line), doc.TemplatePrefix)]
	moves := progress().MatchString(line) || structure.LogShape(line) && structure.Signal(line) == 0 && !strings.Contains(line, "warning")
	for _, shape := range shapesOf(line) {
		s.count[shape]++
		if moves {
			s.progress[shape]++
		}
	}
}

// most returns the shape that most lines have, if at least leastRecords and the given fraction of all have it, or "".
func (s *shapes) most(share float64) (most string) {
	for shape, n := range s.count {
		enough := n >= leastRecords && float64(n) >= share*float64(s.lines) && s.progress[shape]*2 < n
		if enough && (n > s.count[most] || n == s.count[most] && shape < most) {
			most = shape
		}
	}
	return most
}

// progress matches words of lines that say that something runs or went well.
var progress = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:pass(?:ed|ing)?|ok|run|running|ran|success\w*|compil(?:ing|ed)|download(?:ing|ed)|build(?:ing)?|built|install(?:ing|ed)|info|debug)\b|[✓✔√]`)
})

// shapesOf returns the shapes of a line: how it begins, up to its first word, and its second word.
func shapesOf(line string) []string {
	words := strings.Fields(line[:min(len(line), doc.TemplatePrefix)])
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
