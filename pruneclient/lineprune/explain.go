package lineprune

import "strings"

// explain says for every line what it scored and why it was kept or dropped.
func (p *pruning) explain(keep []cause) []Line {
	terms := p.termsByLine()
	out := make([]Line, len(keep))
	for i, c := range keep {
		out[i] = Line{Score: p.relevance.score[i], Kept: c != dropped, Why: why(c, terms[i])}
	}
	return out
}

// termsByLine names the question's terms on every line, each once.
func (p *pruning) termsByLine() []string {
	terms := make([]string, len(p.d.lines))
	for from := 0; from < len(p.d.hits); {
		line := p.d.hits[from].line
		var names []string
		for ; from < len(p.d.hits) && p.d.hits[from].line == line; from++ {
			names = appendOnce(names, p.q.groups[p.d.hits[from].group].name)
		}
		terms[line] = strings.Join(names, ", ")
	}
	return terms
}

// terms says of each of the question's words where it was found.
func (p *pruning) terms() []Term {
	on := make([]map[int32]bool, len(p.q.groups))
	for _, hits := range [][]hit{p.d.hits, p.d.pathHits} {
		for _, h := range hits {
			if on[h.group] == nil {
				on[h.group] = map[int32]bool{}
			}
			on[h.group][h.line] = true
		}
	}
	var terms []Term
	at := map[string]int{} // a name in quotes is there as a word and as a name
	for g, group := range p.q.groups {
		i, again := at[group.name]
		switch {
		case group.bits == 0:
		case again:
			terms[i].Lines = max(terms[i].Lines, len(on[g]))
		default:
			at[group.name] = len(terms)
			terms = append(terms, Term{group.name, len(on[g])})
		}
	}
	return terms
}

func appendOnce(list []string, s string) []string {
	for _, have := range list {
		if have == s {
			return list
		}
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

var causeNames = map[cause]string{
	definition: "definition",
	imported:   "import",
	between:    "context",
	guarded:    "protected: directive or marker",
	alarm:      "protected: sign of trouble",
	ending:     "protected: end of the log",
	required:   "limits",
	wholeText:  "whole text",
}
