package doc

// Profile determines how lines of one kind of text earn relevance, relative to a term that occurs on the
// line itself. The values were set by cross-validation over repositories (docs/evidence/QUALITY.md), not case by
// case. All lie on flat optima.
type Profile struct {
	Before float64 // fraction of a term's influence that remains one line above it
	After  float64 // the same one line below it
	Own    float64 // extra for terms on the line itself, favouring short lines
	Unit   float64 // weight of the terms of the enclosing unit as a whole (BM25)
	Head   float64 // weight of the terms on the unit's head line, or in a match's path
	Parent float64 // fraction of the score of the unit that encloses the enclosing unit
	Sure   float64 // amount of evidence that raises confidence to one half
}

type ranking struct {
	Code, Docs, Logs, Grep Profile

	Synonym float64 // weight of a synonym, relative to the word itself
	Prefix  float64 // weight of a longer or shorter form of the word
	Name    float64 // weight of a definition's name, by the fraction of its parts that match
	Comment float64 // fraction of its score that a comment keeps, because it leads to code
	Close   float64 // fraction of the lower neighbour's score that a line between two relevant ones gets

	Gap   float64 // decay of influence with the lines between two matches
	Tests float64 // fraction of its score that a match in a test keeps
	Prose float64 // the same for a match in documentation or data

	Trouble      float64 // weight of a sign of trouble on a log line
	TroubleEntry float64 // the same in its entry
	Calm         float64 // fraction of both when the question does not ask for a failure
	Rare         float64 // weight of a line's rarity by its template
}

// Ranking is the ranking in use.
var Ranking = ranking{
	Code: Profile{Before: 0.85, After: 0.89, Own: 0.35, Unit: 0.2, Head: 1.4, Parent: 0.4, Sure: 3.4},
	Docs: Profile{Before: 0.91, After: 0.87, Own: 0.15, Unit: 0.2, Head: 1.1, Parent: 0.7, Sure: 4},
	Logs: Profile{Before: 0.95, After: 0.88, Own: 0.33, Unit: 0.05, Head: 0.27, Sure: 3},
	Grep: Profile{Before: 0.78, After: 0.9, Own: 0.33, Unit: 0.5, Head: 3, Sure: 2},

	Synonym: 0.5, Prefix: 0.5, Name: 0.9, Comment: 0.55, Close: 0.9,
	Gap: 0.14, Tests: 0.08, Prose: 0.1,
	Trouble: 1, TroubleEntry: 11, Calm: 0.03, Rare: 4,
}
