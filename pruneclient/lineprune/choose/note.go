package choose

import (
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/overview"
)

// note returns a short explanation for the model that asked: why the text came back whole, or that a budget
// was filled with little evidence of an answer.
func (p *chooser) note(res Result, warnings []string) string {
	if !res.Whole() {
		return p.noteOfDoubt(warnings)
	}
	switch {
	case slices.Contains(warnings, IsDiff):
		return "not pruned: every line of a diff counts"
	case slices.Contains(warnings, TooShort):
		return "not pruned: short"
	case slices.Contains(warnings, NeedsAll) && p.structured() && p.Data.Solid:
		return "not pruned: its records share lines; ask `jq` for a part of it"
	case slices.Contains(warnings, NeedsAll) && p.Want == overview.Judged:
		return "not pruned: it takes every line to judge it"
	case slices.Contains(warnings, NeedsAll):
		return "not pruned: count or compare with `awk`, `jq` or `grep -c` rather than by reading"
	case slices.Contains(warnings, NoGain):
		return "not pruned: most of it may answer"
	case slices.Contains(warnings, LowConfidence):
		if word := p.missing(); word != "" {
			return "not pruned: `" + word + "` is nowhere in it; name what you seek as the file does"
		}
		return "not pruned: no part of it clearly answers; name what you seek as the file does"
	}
	return ""
}

// noteOfDoubt returns the part of the note for a doubtful result, or "".
func (p *chooser) noteOfDoubt(warnings []string) string {
	word := p.missing()
	switch {
	case !slices.Contains(warnings, LowConfidence):
		return ""
	case word != "" && len(p.Matches.Hits)+len(p.Matches.PathHits) == 0:
		return "nothing in it matches the question; what is kept says what it is about"
	case word != "":
		return "perhaps not the answer: `" + word + "` is nowhere in it"
	}
	return "perhaps not the answer: no part of it clearly answers"
}

// longestWord is the length in bytes of the longest word that a note quotes.
const longestWord = 32

// missing returns the most informative word of the question that does not occur in the text, or "".
func (p *chooser) missing() string {
	found := make([]bool, len(p.Question.Groups))
	for _, h := range p.Matches.Hits {
		found[h.Group] = true
	}
	for _, h := range p.Matches.PathHits {
		found[h.Group] = true
	}
	best, most := "", 0.0
	for g, group := range p.Question.Groups {
		quotable := len(group.Name) <= longestWord && !strings.ContainsAny(group.Name, "`\r\n")
		if bits := p.Question.BitsOf(int16(g)); !found[g] && bits > most && quotable {
			best, most = group.Name, bits
		}
	}
	return best
}
