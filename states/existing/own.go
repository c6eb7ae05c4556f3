package existing

import (
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// ownEdits is what the mark of a gap says of a hunk that is the agent's own edits.
const ownEdits = "your edits"

// ownBlocks returns what goes of a diff in which some hunks are the agent's own edits: nothing if it is read for what is in it, or if
// it is not worth a header.
func ownBlocks(lines []string, own [][2]int, call session.Origin, question string) (blocks []lineprune.Block) {
	if call.Whole(len(lines)) != "" || lineprune.AsksForReview(call, question) {
		return nil
	}
	var out strings.Builder
	for _, hunk := range own {
		for _, line := range lines[hunk[0]-1 : hunk[1]] {
			out.WriteString(line + "\n")
		}
		blocks = append(blocks, lineprune.Block{Start: hunk[0], End: hunk[1], Content: ownEdits})
	}
	if tokens.EstimateWell(out.String()) < history.MinTokens {
		return nil
	}
	return blocks
}
