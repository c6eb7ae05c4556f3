package lineprune

import (
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/rank"
)

// explain returns the score of every line and the reason why it was kept or dropped.
func (in input) explain(keep []cause) []Line {
	terms := termsByLine(in.Text)
	out := make([]Line, len(keep))
	for i, c := range keep {
		out[i] = Line{Score: in.Relevance.Score[i], Kept: c != dropped, Why: why(c, terms[i])}
	}
	return out
}

// termsByLine lists the question's terms on every line, each once.
func termsByLine(t *rank.Text) []string {
	terms := make([]string, len(t.Doc.Lines))
	for from := 0; from < len(t.Matches.Hits); {
		line := t.Matches.Hits[from].Line
		var names []string
		for ; from < len(t.Matches.Hits) && t.Matches.Hits[from].Line == line; from++ {
			names = appendOnce(names, t.Question.Groups[t.Matches.Hits[from].Group].Name)
		}
		terms[line] = strings.Join(names, ", ")
	}
	return terms
}

// terms returns every term of the question with the number of lines that have it.
func termsOf(t *rank.Text) []Term {
	on := make([]map[int32]bool, len(t.Question.Groups))
	for _, hits := range [][]rank.Hit{t.Matches.Hits, t.Matches.PathHits} {
		for _, h := range hits {
			if on[h.Group] == nil {
				on[h.Group] = map[int32]bool{}
			}
			on[h.Group][h.Line] = true
		}
	}
	var terms []Term
	at := map[string]int{} // a quoted name occurs both as a word and as a whole name
	for g, group := range t.Question.Groups {
		i, again := at[group.Name]
		switch {
		case group.Bits == 0:
		case again:
			terms[i].Lines = max(terms[i].Lines, len(on[g]))
		default:
			at[group.Name] = len(terms)
			terms = append(terms, Term{group.Name, len(on[g])})
		}
	}
	return terms
}

func appendOnce(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

func why(c cause, terms string) string {
	switch c {
	case relevant:
		if terms != "" {
			return "terms: " + terms
		}
		return "near terms"
	case dropped:
		if terms != "" {
			return "below the cut: " + terms
		}
		return "not relevant"
	}
	return causeNames[c]
}
