package existing

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// A long output is mostly lines of a few forms: tests that pass, files that are compiled, requests that are served. What
// decides is often the line that has none of these forms, whatever the question was.
const (
	rareShare  = 0.4  // of the tokens that a long text may keep, for lines of rare forms
	follows    = 2    // lines after one that says what went wrong
	rareTimes  = 3    // lines of a form that is rare
	repeated   = 0.01 // of the lines may have a form whose first line still counts as rare: a run that is repeated fails the same way each time
	commonWord = 0.1  // of the lines have a word that belongs to a form; other words are what varies in it
	longLine   = 2000 // bytes of a line after which its form is not looked at
)

// failing matches words of lines that say why something went wrong.
var failing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:error|err|fail(?:ed|ure|s)?|fatal|panic|exception|expected|received|cannot|unable|denied|refused|undefined|missing|timed? ?out|no space|not found|warn(?:ing)?|traceback|assert\w*)\b|\bwant\b.*\bgot\b|\bgot\b.*\bwant\b|[A-Za-z]+(?:Error|Exception)\b|^\s*[>^✖●×]`)
})

// rare returns the rarest lines that have at most the given number of tokens together, and what follows a failure.
func (b Body) rare(most int) []int {
	found := b.rarest()
	kept := map[int]bool{}
	for _, n := range found {
		last := n
		if failing().MatchString(b.Lines[n-1]) { // what follows says where
			last = min(n+follows, len(b.Lines))
		}
		for ; n <= last; n++ {
			if most -= tokens.EstimateWell(b.Line(n)) + gapTokens; most < 0 {
				return slices.Sorted(maps.Keys(kept))
			}
			kept[n] = true
		}
	}
	return slices.Sorted(maps.Keys(kept))
}

// rarest returns the lines of rare forms, and the first line of each form that is repeated: those that say what went
// wrong first, then the rarest.
func (b Body) rarest() (found []int) {
	forms := formsOf(b.Lines)
	counts, most := map[string]int{}, max(rareTimes, int(repeated*float64(len(forms))))
	for _, f := range forms {
		counts[f]++
	}
	worth, seen := map[int]int{}, map[string]bool{}
	for i, f := range forms {
		again := seen[f]
		seen[f] = true
		if f == "" || counts[f] > most || counts[f] > rareTimes && again {
			continue
		}
		found = append(found, i+1)
		worth[i+1] = min(counts[f], rareTimes+1)
		if failing().MatchString(b.Lines[i]) {
			worth[i+1] -= rareTimes + 1
		}
	}
	slices.SortStableFunc(found, func(x, y int) int { return cmp.Compare(worth[x], worth[y]) })
	return found
}

// gapTokens is the size of the mark of a gap.
const gapTokens = 6

// wordsOf divides a line into words, numbers and single other characters.
func wordsOf(line string) (words []string) {
	for i := 0; i < len(line); {
		end := i + 1
		for is := classOf(line[i]); is != other && end < len(line) && classOf(line[end]) == is; {
			end++
		}
		words = append(words, line[i:end])
		i = end
	}
	return words
}

type class int

const (
	other class = iota
	letter
	digit
	space
)

func classOf(c byte) class {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', c >= 0x80:
		return letter
	case c >= '0' && c <= '9':
		return digit
	case c == ' ', c == '\t', c == '\r':
		return space
	}
	return other
}

// formsOf returns the form of each line: its characters, with a mark for each number and for each word that few lines have.
// The form of an empty line, or of one that is too long, is "".
func formsOf(lines []string) []string {
	words := make([][]string, len(lines))
	in, last := map[string]int{}, map[string]int{} // lines with a word, and the latest one
	for i, line := range lines {
		if len(line) > longLine || strings.TrimSpace(line) == "" {
			continue
		}
		words[i] = wordsOf(line)
		for _, w := range words[i] {
			if last[w] != i+1 {
				last[w] = i + 1
				in[w]++
			}
		}
	}
	least := max(int(commonWord*float64(len(lines))), rareTimes+1)
	forms := make([]string, len(lines))
	for i, list := range words {
		var form strings.Builder
		before := ""
		for _, w := range list {
			mark := w
			switch is := classOf(w[0]); {
			case is == space:
				mark = " "
			case is == digit:
				mark = "0"
			case is == letter && in[w] < least:
				mark = "w"
			}
			if mark != before || mark != "w" && mark != "0" {
				form.WriteString(mark)
			}
			before = mark
		}
		forms[i] = strings.TrimSpace(form.String())
	}
	return forms
}
