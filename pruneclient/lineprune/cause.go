package lineprune

import "slices"

// cause is the reason why a line is kept.
type cause uint8

const (
	dropped cause = iota
	relevant
	definition // encloses a kept line
	heading    // names what a kept line belongs to
	named      // the question names it literally
	equal      // the first of the lines that are equal to a kept one
	imported   // an import that the file needs
	between    // in a gap too small for a marker
	guarded    // between NO_PRUNE directives, or a marker of an earlier pruning
	asked      // in a part that the call asks for as a whole
	alarm      // a sign of trouble in a log
	ending     // the last lines of a log
	required   // by Options.MinKeepLines or MaxPruneRatio
	wholeText  // nothing was pruned
)

// span is a range of lines, end excluded. The zero span stands for the line itself.
type span struct{ start, end int32 }

// causeNames are the reasons as Explain gives them.
var causeNames = map[cause]string{
	definition: "definition",
	heading:    "heading of kept lines",
	named:      "named in the question",
	equal:      "first of equal lines",
	imported:   "import",
	between:    "context",
	guarded:    "protected: directive or marker",
	asked:      "asked for as a whole",
	alarm:      "protected: sign of trouble",
	ending:     "protected: end of the log",
	required:   "limits",
	wholeText:  "whole text",
}

// everything returns the choice of n lines that keeps them all.
func everything(n int) []cause { return slices.Repeat([]cause{wholeText}, n) }

// keepRange keeps the lines start..end-1.
func keepRange(keep []cause, start, end int) {
	for i := start; i < end; i++ {
		if keep[i] == dropped {
			keep[i] = between
		}
	}
}
