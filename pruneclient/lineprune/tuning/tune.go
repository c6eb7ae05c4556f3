package tuning

// Profile says how lines of one kind of text earn relevance, relative to a term
// that stands right on them. The numbers were set by cross-validation over
// repositories (docs/QUALITY.md), not case by case; all lie on flat optima.
type Profile struct {
	Before float64 // what is left of a term's influence one line above it
	After  float64 // and one line below
	Own    float64 // extra for terms on the line itself, short lines first
	Unit   float64 // for the terms of the enclosing unit as a whole (BM25)
	Head   float64 // for the terms of the unit's defining line; of a match's path
	Parent float64 // share of what the unit around the enclosing one earned
	Sure   float64 // evidence of an answer that is as good as none
}

// Ranking is the numbers of the ranking.
type Ranking struct {
	Code, Docs, Logs, Grep Profile

	Synonym float64 // weight of a synonym, the word itself being 1
	Prefix  float64 // weight of a longer or shorter form of the word
	Name    float64 // for the parts of a definition's name, by the share of them that match
	Comment float64 // what a comment keeps of its score: it leads to code
	Close   float64 // what a line between two relevant ones has of the lesser

	Gap   float64 // how fast influence fades with the lines between two matches
	Tests float64 // what a match in a test keeps of its score
	Prose float64 // and one in documentation or data

	Trouble      float64 // for a sign of trouble on a log's line
	TroubleEntry float64 // and in its entry
	Calm         float64 // share of both when the question asks for something else
	Rare         float64 // for a line whose template is rare
}

// Rank is the ranking in use.
var Rank = Ranking{
	Code: Profile{Before: 0.85, After: 0.89, Own: 0.35, Unit: 0.2, Head: 1.4, Parent: 0.4, Sure: 3.4},
	Docs: Profile{Before: 0.91, After: 0.87, Own: 0.15, Unit: 0.2, Head: 1.1, Parent: 0.7, Sure: 4},
	Logs: Profile{Before: 0.95, After: 0.88, Own: 0.33, Unit: 0.05, Head: 0.27, Sure: 3},
	Grep: Profile{Before: 0.78, After: 0.9, Own: 0.33, Unit: 0.5, Head: 3, Sure: 2},

	Synonym: 0.5, Prefix: 0.5, Name: 0.9, Comment: 0.55, Close: 0.9,
	Gap: 0.14, Tests: 0.08, Prose: 0.1,
	Trouble: 1, TroubleEntry: 11, Calm: 0.03, Rare: 4,
}
