package choose

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/rank"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/render"
)

// Result holds the kept lines and the reasons for the choice.
type Result struct {
	Kind       doc.Kind
	Total      int            // lines in the text
	Kept       []int          // 1-based numbers of the kept lines, ascending
	Scores     []float64      // how relevant each line is, by the ranking that chose; comparable within one result only
	Blocks     []render.Block // the omitted ranges, ascending and disjoint: with Kept they partition 1..Total
	Confidence float64        // 0..1, how sure the pruner is that the text answers the question
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
	TooShort         = "too_short"         // below tuning.ShortText tokens, where pruning saves nothing
	NoGain           = "no_gain"           // markers would take up what pruning saves
	IsDiff           = "diff"              // a patch loses its meaning when lines are missing
	ConstraintsUnmet = "constraints_unmet" // the limits require more lines than the text has
	NeedsAll         = "needs_all"         // every line matters: the question asks for a number, an extreme or a judgement
)

// Options limit a choice. With the zero value the gates decide how much is kept.
type Options struct {
	Diffs  bool    // prune diffs, too; by default they are returned whole
	Budget float64 // > 0: the largest fraction of the text's tokens to keep; disables the gates and the confidence test

	MaxPruneRatio float64 // largest fraction of lines to prune, pruned <= floor(n*ratio); 0 means no limit unless LimitRatio is set
	LimitRatio    bool    // MaxPruneRatio applies even when it is 0
	MinKeepLines  int     // kept >= min(n, MinKeepLines)

	// Marker renders the marker that will replace an omitted range. When set, a range that is no longer
	// than its marker is kept, and the whole text is kept when the result would be no shorter.
	Marker func(render.Block) string

	Explain bool // fill Result.Lines and Result.Terms
}

// Lines keeps the relevant lines, or the whole text if one of the gates requires it.
func Lines(t *rank.Text, r rank.Relevance, confidence float64, opts Options) Result {
	return (&chooser{Text: t, Relevance: r, opts: opts, confidence: confidence}).result()
}

// InOrder keeps lines in the given order (0 is the first line) until the limits are reached, and at least
// one line. As in Lines, protected lines stay and fenced blocks and log entries are kept whole or not at
// all; enclosing definitions, headings, imports and an outline are added up to small fractions of the
// tokens. With a Marker, gaps no longer than their marker are kept.
func InOrder(t *rank.Text, r rank.Relevance, confidence float64, order []int, opts Options) Result {
	p := &chooser{Text: t, Relevance: r, opts: opts, confidence: confidence}
	keep := p.protect()
	f := p.newFill(keep)
	f.reach(order, max(limitsOf(len(keep), p.opts).minKept, 1))
	p.keepOne(keep)
	f.outline()
	p.settle(keep, p.closeGaps)
	return p.resultOf(keep, nil)
}
