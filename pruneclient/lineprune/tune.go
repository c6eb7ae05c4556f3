package lineprune

// parameters are the few numbers the ranking has. They were set by
// cross-validation over repositories (docs/QUALITY.md), not case by case.
type parameters struct {
	Synonym float64 // weight of a synonym, the word itself being 1
	Before  float64 // decay of a hit's influence per line, upwards
	After   float64 // and downwards
	Near    float64 // weight of terms near the line
	Own     float64 // weight of terms on the line
	Unit    float64 // weight of the enclosing unit's terms
	Head    float64 // weight of terms in the enclosing unit's defining line
	Failure float64 // weight of a log's error signals
}

var tune = parameters{Synonym: 0.5, Before: 0.8, After: 0.85, Near: 1, Own: 0.5, Unit: 0.7, Head: 0.6, Failure: 6}
