package lineprune

import (
	"math/big"
	"strconv"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/learned"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// Options limit a result. With the zero value the gates decide how much is kept.
type Options struct {
	File    string // file name, for detection
	Command string // command line, for detection

	Call session.Origin // the tool call that produced the text, and what its session did before

	Budget float64 // > 0: the largest fraction of the text's tokens to keep; disables the gates and the confidence test

	Ends float64 // > 0: nobody asked anything; what failed is kept, and the head and the tail up to this fraction of the tokens

	Diffs bool // prune diffs, too; by default they are returned whole

	MaxPruneRatio float64 // largest fraction of lines to prune, pruned <= floor(n*ratio); 0 means no limit unless LimitRatio is set
	LimitRatio    bool    // MaxPruneRatio applies even when it is 0
	MinKeepLines  int     // kept >= min(n, MinKeepLines)

	// Marker renders the marker that will replace an omitted range. When set, a range that is no longer
	// than its marker is kept, and the whole text is kept when the result would be no shorter.
	Marker func(Block) string

	Explain bool // fill Result.Lines and Result.Terms

	Weights *learned.Weights // weights of the learned ranking; nil selects the embedded ones
}

// Result holds the kept lines and the reasons for the choice.
type Result struct {
	Kind       doc.Kind
	Total      int                 // lines in the text
	Kept       []int               // 1-based numbers of the kept lines, ascending
	Scores     []float64           // how relevant each line is, by the ranking that chose; comparable within one result only
	Blocks     []Block             // the omitted ranges, ascending and disjoint: with Kept they partition 1..Total
	Openings   []structure.Opening // what begins in the text, in the order of its lines; nil if it is whole
	Confidence float64             // 0..1, how sure the pruner is that the text answers the question
	Warnings   []string
	Note       string // why the text was returned whole, or a warning that the kept lines may not answer; "" for neither
	Lines      []Line // one per line; only with Options.Explain
	Terms      []Term // the question's terms in their order; only with Options.Explain
}

// Whole reports whether every line was kept.
func (res Result) Whole() bool { return len(res.Blocks) == 0 }

// Line explains the decision on one line.
type Line struct {
	Score float64
	Kept  bool
	Why   string // "terms: retry, backoff", "definition", "context", "protected: ...", "not relevant"
}

// Term is one term of the question and where it was found.
type Term struct {
	Name  string
	Lines int // number of lines with the word, one of its forms or a synonym; a path in a list of matches counts once
}

// Warnings attached to a Result whose text was returned whole. Each names the reason.
const (
	LowConfidence    = "low_confidence"    // few of the question's terms occur, or the best line would be lost
	TooShort         = "too_short"         // below doc.ShortText tokens, where pruning saves nothing
	NoGain           = "no_gain"           // markers would take up what pruning saves
	IsDiff           = "diff"              // a patch loses its meaning when lines are missing
	HasConflict      = "conflict"          // a side of a merge conflict loses its meaning without the other
	ConstraintsUnmet = "constraints_unmet" // the limits require more lines than the text has
	NeedsAll         = "needs_all"         // every line matters: the question asks for a number, an extreme or a judgement
	AskedWhole       = "asked_whole"       // the call asks for all of it: a list of names, a range, all records
)

// minKept returns the least number of lines to keep of n.
func (o Options) minKept(n int) int {
	kept := min(n, max(o.MinKeepLines, 0))
	if o.LimitRatio || o.MaxPruneRatio > 0 {
		kept = max(kept, n-MaxPruned(n, o.MaxPruneRatio))
	}
	return kept
}

// MaxPruned returns floor(n*ratio) for a ratio in 0..1. The ratio is taken as its decimal notation: 0.29 of
// 100 lines is 29, although the nearest float64 is slightly less than 0.29.
func MaxPruned(n int, ratio float64) int {
	ratio = min(max(ratio, 0), 1)
	product, ok := new(big.Rat).SetString(strconv.FormatFloat(ratio, 'f', -1, 64))
	if !ok { // NaN
		return 0
	}
	product.Mul(product, big.NewRat(int64(n), 1))
	return int(new(big.Int).Quo(product.Num(), product.Denom()).Int64())
}
