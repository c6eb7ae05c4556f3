package lineprune

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/rank"
)

// note returns a short explanation for the model that asked: why the text came back whole, or that a budget
// was filled with little evidence of an answer.
func (in input) note(res Result, warnings []string) string {
	if !res.Whole() {
		return noteOfDoubt(in.Text, warnings)
	}
	switch {
	case slices.Contains(warnings, IsDiff):
		return "not pruned: every line of a diff counts"
	case slices.Contains(warnings, HasConflict):
		return "not pruned: it has merge conflicts"
	case slices.Contains(warnings, TooShort):
		return "not pruned: short"
	case slices.Contains(warnings, AskedWhole):
		return "not pruned: " + in.whole
	case slices.Contains(warnings, NeedsAll) && structured(in.Text) && in.Data.Solid:
		return "not pruned: its records share lines; ask `jq` for a part of it"
	case slices.Contains(warnings, NeedsAll) && in.Want == rank.WantJudged:
		return "not pruned: it takes every line to judge it"
	case slices.Contains(warnings, NeedsAll):
		return "not pruned: count or compare with `awk`, `jq` or `grep -c` rather than by reading"
	case slices.Contains(warnings, NoGain):
		return "not pruned: most of it may answer"
	case slices.Contains(warnings, LowConfidence):
		if word := missing(in.Text); word.line > 0 {
			return "not pruned: " + word.said()
		} else if word.name != "" {
			return "not pruned: " + word.said() + advice
		}
		return "not pruned: no part of it clearly answers" + advice
	}
	return ""
}

// noteOfDoubt returns the part of the note for a doubtful result, or "".
func noteOfDoubt(t *rank.Text, warnings []string) string {
	if !slices.Contains(warnings, LowConfidence) {
		return ""
	}
	word := missing(t)
	switch {
	case word.name != "" && !word.some && len(t.Matches.Hits)+len(t.Matches.PathHits) == 0:
		return "nothing in it matches the question; what is kept says what it is about"
	case word.name != "":
		return "perhaps not the answer: " + word.said()
	}
	return "perhaps not the answer: no part of it clearly answers"
}

// advice ends the note for a text that has nothing like the question.
const advice = "; name what you seek as the file does"

// longestWord is the length in bytes of the longest word that a note quotes.
const longestWord = 32

// unjudged is a word of the question that no line was judged by.
type unjudged struct {
	name string // "": every word was found
	line int    // the first line that has it all the same, in a part that was not judged; 0: none has
	some bool   // the text has some such word, there or within a longer word
}

// said returns what a note says of the word. That it is nowhere is said only after the whole text was searched.
func (u unjudged) said() string {
	if u.line > 0 {
		return fmt.Sprintf("`%s` is in line %d, in a part that was not judged", u.name, u.line)
	}
	return "`" + u.name + "` is nowhere in it"
}

// missing returns the most informative word of the question that does not occur where lines are judged. Of a word that stands
// there within longer ones nothing can be said. Each word that is looked for takes a pass over the text, so that they are few.
func missing(t *rank.Text) (best unjudged) {
	found := make([]bool, len(t.Question.Groups))
	for _, hits := range [][]rank.Hit{t.Matches.Hits, t.Matches.PathHits} {
		for _, h := range hits {
			found[h.Group] = true
		}
	}
	var sought []int16
	for g, group := range t.Question.Groups {
		quotable := len(group.Name) <= longestWord && !strings.ContainsAny(group.Name, "`\r\n")
		if !found[g] && quotable && t.Question.BitsOf(int16(g)) > 0 {
			sought = append(sought, int16(g))
		}
	}
	slices.SortStableFunc(sought, func(a, b int16) int { return cmp.Compare(t.Question.BitsOf(b), t.Question.BitsOf(a)) })
	best.some = len(sought) > doc.MostNames // of the others it is not known
	for _, g := range sought[:min(len(sought), doc.MostNames)] {
		line, within := occurs(t.Doc, t.Question.Groups[g].Name)
		best.some = best.some || line > 0 || within
		if best.name == "" && !within {
			best.name, best.line = t.Question.Groups[g].Name, line
		}
	}
	return best
}

// occurs searches the whole text for a word or its stem, in upper or lower case. within reports that a part of a line that was
// judged has it; else line is the first one that has it further on, or 0.
func occurs(d *doc.Document, word string) (line int, within bool) {
	word = strings.ToLower(word)
	if stem := doc.StemOf(word); strings.HasPrefix(word, stem) && len(stem) >= doc.MinPrefix {
		word = stem
	}
	for i := range d.Lines {
		switch at := strings.Index(strings.ToLower(d.Scanned(i)), word); {
		case at < 0:
		case at < doc.ScoredPrefix:
			return 0, true
		case line == 0:
			line = i + 1
		}
	}
	return line, false
}
