package existing

import (
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// ownEdits is what the mark of a gap says of a hunk that is the agent's own edits.
const ownEdits = "your edits"

// reviews reports whether a diff is read for what is in it, so that all of it stays.
func (r Result) reviews(call session.Origin) bool {
	return call.Whole(len(r.Body.Lines)) != "" || lineprune.AsksForReview(call, r.Question)
}

// withoutOwn leaves out of a diff the hunks that are the agent's own edits, but for the line that says where they are. It does so
// only if that is worth a header.
func (r Result) withoutOwn(c Cut) Cut {
	var out strings.Builder
	for _, own := range r.Own {
		for _, line := range r.Body.Lines[own[0]-1 : own[1]] {
			out.WriteString(line + "\n")
		}
	}
	if tokens.EstimateWell(out.String()) < history.MinTokens {
		return c
	}
	for _, own := range r.Own {
		c.Blocks = append(c.Blocks, lineprune.Block{Start: own[0], End: own[1], Content: ownEdits})
	}
	c.Kept = slices.DeleteFunc(c.Kept, func(n int) bool {
		return slices.ContainsFunc(r.Own, func(own [2]int) bool { return own[0] <= n && n <= own[1] })
	})
	c.Kind = lineprune.Code // so that gaps are marked
	return c
}
