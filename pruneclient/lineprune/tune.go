package lineprune

// profile says how lines of one kind of text earn relevance, relative to a term
// that stands right on them. The numbers were set by cross-validation over
// repositories (docs/QUALITY.md), not case by case; all lie on flat optima.
type profile struct {
	before float64 // what is left of a term's influence one line above it
	after  float64 // and one line below
	own    float64 // extra for terms on the line itself, short lines first
	unit   float64 // for the terms of the enclosing unit as a whole (BM25)
	head   float64 // for the terms of the unit's defining line; of a match's path
	parent float64 // share of what the unit around the enclosing one earned
	sure   float64 // evidence of an answer that is as good as none
}

// profileOf is the profile of a kind.
func profileOf(kind Kind) profile {
	switch kind {
	case Docs:
		return tune.docs
	case Logs:
		return tune.logs
	case Grep:
		return tune.grep
	}
	return tune.code
}

// parameters are all numbers of the ranking.
type parameters struct {
	code, docs, logs, grep profile

	synonym float64 // weight of a synonym, the word itself being 1
	prefix  float64 // weight of a longer or shorter form of the word
	name    float64 // for the parts of a definition's name, by the share of them that match
	comment float64 // what a comment keeps of its score: it leads to code
	close   float64 // what a line between two relevant ones has of the lesser

	gap   float64 // how fast influence fades with the lines between two matches
	tests float64 // what a match in a test keeps of its score
	prose float64 // and one in documentation or data

	trouble      float64 // for a sign of trouble on a log's line
	troubleEntry float64 // and in its entry
	calm         float64 // share of both when the question asks for something else
	rare         float64 // for a line whose template is rare
}

var tune = parameters{
	code: profile{before: 0.85, after: 0.89, own: 0.35, unit: 0.2, head: 1.4, parent: 0.4, sure: 3.4},
	docs: profile{before: 0.91, after: 0.87, own: 0.15, unit: 0.2, head: 1.1, parent: 0.7, sure: 4},
	logs: profile{before: 0.95, after: 0.88, own: 0.33, unit: 0.05, head: 0.27, sure: 3},
	grep: profile{before: 0.78, after: 0.9, own: 0.33, unit: 0.5, head: 3, sure: 2},

	synonym: 0.5, prefix: 0.5, name: 0.9, comment: 0.55, close: 0.9,
	gap: 0.14, tests: 0.08, prose: 0.1,
	trouble: 1, troubleEntry: 11, calm: 0.03, rare: 4,
}
