package lineprune

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/rank"
)

// input is what lines are chosen by. A step that weighs lines anew returns another input.
type input struct {
	*rank.Text
	rank.Relevance
	opts       Options
	confidence float64
	around     bool     // the text is what a search found, with lines of context
	whole      string   // why the text was asked for as a whole, or ""; a budget is a hard limit all the same
	parts      [][2]int // ranges of lines, end excluded, that were asked for as a whole
	statements []uint64 // per line, the statement that printed it, for a log dominated by one; nil: compare templates instead
}

func (in input) budgeted() bool { return in.opts.Budget > 0 }

func structured(t *rank.Text) bool { return t.Data.Nested() || t.Data.IsTable() }

// floor returns the score above which a line is kept for its own relevance.
func (in input) floor() float64 {
	switch {
	case !in.budgeted() && in.Kind == doc.Logs:
		return doc.FreeLogFloor * in.Relevance.Best()
	case !in.budgeted() && in.Data.Nested():
		return doc.RecordFloor * in.Relevance.Best()
	case !in.budgeted():
		return doc.FreeFloor * in.Relevance.Best()
	case in.Kind == doc.Logs:
		return doc.LogFloor * in.Relevance.Best()
	}
	return 0
}
