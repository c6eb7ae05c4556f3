package lineprune

import (
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/rank"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// chooser holds the state of one choice.
type chooser struct {
	*rank.Text
	rank.Relevance
	opts choiceOptions

	statements []uint64 // per line, the statement that printed it, for a log dominated by one; nil: compare templates instead

	confidence float64
	brings     *company // nil until a line is to be kept
}

func (p *chooser) budgeted() bool { return p.opts.Budget > 0 }

// leavesNothing reports whether a text has lines and the choice keeps none, or only blank ones, headings and notices of a
// text that has others.
func (p *chooser) leavesNothing(keep []cause) bool {
	kept, visible := false, false
	for i, c := range keep {
		says := p.Doc.Says(i)
		if c != dropped && says {
			return false
		}
		kept, visible = kept || c != dropped, visible || says
	}
	return visible || len(keep) > 0 && !kept
}

// keepOne keeps the best line if the limits left nothing to read. It runs before gaps are bridged, so that
// the result still is no longer than the text.
func (p *chooser) keepOne(keep []cause) {
	if !p.leavesNothing(keep) {
		return
	}
	best := -1
	for i, score := range p.Relevance.Score {
		if p.Doc.Says(i) && (best < 0 || score > p.Relevance.Score[best]) {
			best = i
		}
	}
	keep[max(best, 0)] = required // 0: all lines are blank
}

// structured reports whether the text consists of records.
func (p *chooser) structured() bool { return p.Data.Nested() || p.Data.IsTable() }

const offFocus = "hors focus"

// block describes the omitted lines start..end-1.
func (p *chooser) block(start, end int) Block {
	b := Block{Start: start + 1, End: end, Reason: offFocus}
	if p.Data == nil {
		return b
	}
	b.Records = p.Data.Records(start, end)
	b.SetReason(offFocus)
	switch p.Data.Form {
	case structure.YAML:
		b.Place = Comment
	case structure.JSON:
		part := p.Data.Around(start, end)
		if part == nil {
			break
		}
		if b.Place = Member; part.Array {
			b.Place = Element
		}
		next := strings.TrimLeft(p.Doc.Next(end-1), " \t")
		b.Last = strings.HasPrefix(next, "]") || strings.HasPrefix(next, "}")
	}
	return b
}

// floor returns the score above which a line is kept for its own relevance.
func (p *chooser) floor() float64 {
	switch {
	case !p.budgeted() && p.Kind == doc.Logs:
		return doc.FreeLogFloor * p.Relevance.Best()
	case !p.budgeted() && p.Data.Nested():
		return doc.RecordFloor * p.Relevance.Best()
	case !p.budgeted():
		return doc.FreeFloor * p.Relevance.Best()
	case p.Kind == doc.Logs:
		return doc.LogFloor * p.Relevance.Best()
	}
	return 0
}
