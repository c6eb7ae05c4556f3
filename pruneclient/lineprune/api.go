// Package lineprune is the embedded line pruner: given a text and a question it
// decides which lines to keep. One pure function, no state, no I/O.
package lineprune

import "mcp-pruner/pruneclient/lineprune/session"

// Kind is what a text is, which decides how its lines are grouped, scored and
// protected.
type Kind string

// The kinds. Auto detects one from the hints and the text.
const (
	Auto Kind = ""
	Code Kind = "code"
	Logs Kind = "logs"
	Docs Kind = "docs"
	Grep Kind = "grep"
)

// Options bound a result. The zero value lets the gates decide.
type Options struct {
	File    string // file name, for detection
	Command string // command line, for detection

	Call session.Call // the tool call that produced the text, and what its session did before

	Budget float64 // > 0: the largest share of the text's tokens to keep; gates and confidence are off

	MaxPruneRatio float64 // largest share of lines pruned, pruned <= floor(n*ratio); 0 means no limit unless LimitRatio
	LimitRatio    bool    // MaxPruneRatio holds even when it is 0
	MinKeepLines  int     // kept >= min(n, MinKeepLines)

	// Marker renders what will stand in an omitted range's place. When set, a
	// range no longer than its marker is kept, and so is the whole text when the
	// result would be no shorter.
	Marker func(Block) string

	Explain bool // fill Result.Lines and Result.Terms
}

// Result says what was kept and why.
type Result struct {
	Kind       Kind
	Total      int     // lines in the text
	Kept       []int   // 1-based numbers of the kept lines, ascending
	Blocks     []Block // the omitted ranges, ascending and disjoint: with Kept they partition 1..Total
	Confidence float64 // 0..1
	Warnings   []string
	Lines      []Line // one per line when Options.Explain
	Terms      []Term // the question's words that count, in its order, when Options.Explain
}

// Whole says whether every line was kept.
func (res Result) Whole() bool { return len(res.Blocks) == 0 }

// Block is an omitted range of lines, both ends included.
type Block struct {
	Start, End int
	Reason     string // one line, in the document's language (French), e.g. "hors focus"
}

// Lines is how many lines the block omits.
func (b Block) Lines() int { return b.End - b.Start + 1 }

// Line explains one line.
type Line struct {
	Score float64
	Kept  bool
	Why   string // "terms: retry, backoff", "definition", "context", "protected: ...", "not relevant"
}

// Term is one of the question's words.
type Term struct {
	Name  string
	Lines int // how many lines have it, a form of it or a synonym; a path counts once
}

// The warnings of a text that came back whole, and why it did.
const (
	LowConfidence    = "low_confidence"    // the question's words hardly occur, or the best line would be lost
	TooShort         = "too_short"         // nothing worth saving
	NoGain           = "no_gain"           // markers would eat what pruning saves
	IsDiff           = "diff"              // every line of a patch counts
	ConstraintsUnmet = "constraints_unmet" // more lines must be kept than there are
)
