package choose

import (
	"mcp-pruner/pruneclient/lineprune/doc"
	"mcp-pruner/pruneclient/lineprune/rank"
	"mcp-pruner/pruneclient/lineprune/render"
	"mcp-pruner/pruneclient/lineprune/tuning"
)

// Result says what was kept and why.
type Result struct {
	Kind       doc.Kind
	Total      int            // lines in the text
	Kept       []int          // 1-based numbers of the kept lines, ascending
	Blocks     []render.Block // the omitted ranges, ascending and disjoint: with Kept they partition 1..Total
	Confidence float64        // 0..1
	Warnings   []string
	Note       string // why the text came back whole, or that what is kept may not answer; "" when neither
	Lines      []Line // one per line when Options.Explain
	Terms      []Term // the question's words that count, in its order, when Options.Explain
}

// Whole says whether every line was kept.
func (res Result) Whole() bool { return len(res.Blocks) == 0 }

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
	NeedsAll         = "needs_all"         // every line counts: the question asks for a number, an extreme or a judgement
)

// Options bound a choice. The zero value lets the gates decide.
type Options struct {
	Diffs  bool    // a diff is not kept whole
	Budget float64 // > 0: the largest share of the text's tokens to keep; gates and confidence are off

	MaxPruneRatio float64 // largest share of lines pruned, pruned <= floor(n*ratio); 0 means no limit unless LimitRatio
	LimitRatio    bool    // MaxPruneRatio holds even when it is 0
	MinKeepLines  int     // kept >= min(n, MinKeepLines)

	// Marker renders what will stand in an omitted range's place. When set, a
	// range no longer than its marker is kept, and so is the whole text when the
	// result would be no shorter.
	Marker func(render.Block) string

	Explain bool // fill Result.Lines and Result.Terms
}

// Lines selects the lines that are relevant, or the whole text when the gates say so.
func Lines(t *rank.Text, r rank.Relevance, confidence float64, opts Options) Result {
	return (&chooser{Text: t, Relevance: r, opts: opts, confidence: confidence}).result()
}

// InOrder keeps lines in the given order (0 is the first line) until the limits
// are met, but one at least, with the same protections: what must stay stays, what belongs
// together stays together, and definitions, headings and imports come along, as far as
// they are a small part of the text. With a Marker, gaps that are no longer than theirs
// are kept.
func InOrder(t *rank.Text, r rank.Relevance, confidence float64, order []int, opts Options) Result {
	p := &chooser{Text: t, Relevance: r, opts: opts, confidence: confidence}
	keep := p.protect()
	f := p.newFill(keep)
	f.reach(order, max(limitsOf(len(keep), p.opts).minKept, 1))
	f.allowance = f.used + int(tuning.ExtraShare*float64(p.Doc.Total))
	f.surround()
	f.skeleton()
	if p.opts.Marker != nil {
		// As with a budget: of a gap only its marker's length matters.
		p.opts.Budget = 1
		p.bridge(keep)
	}
	res := Result{Kind: p.Kind, Total: len(keep), Confidence: p.confidence}
	res.set(keep)
	return res
}
