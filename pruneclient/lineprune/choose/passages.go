package choose

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/tuning"
)

// keepPassages keeps the whole passage of each kept line in a list of matches with lines of context: a search that asks
// for context, such as the forty lines after a function's name, asks for that passage, and one with holes in it reads
// like the whole. A budget is a hard limit, and a very long passage is chosen line by line.
func (p *chooser) keepPassages(keep []cause) {
	if p.Kind != doc.Grep || p.budgeted() || p.Doc.Places == nil {
		return
	}
	for start, end := 0, 0; start < len(keep); start = end {
		end = p.passage(start)
		if end-start > tuning.PassageLines || !p.context(start, end) {
			continue
		}
		for i := start; i < end; i++ {
			if keep[i] != dropped {
				keepRange(keep, start, end)
				break
			}
		}
	}
}

// passage returns the end of the lines from start on that follow each other in one file.
func (p *chooser) passage(start int) int {
	end := start + 1
	for ; end < len(p.Doc.Places); end++ {
		above, here := p.Doc.Places[end-1], p.Doc.Places[end]
		if here.Number == 0 || here.Path != above.Path || here.Number != above.Number+1 {
			break
		}
	}
	return end
}

// context reports whether a passage has a line that is no match.
func (p *chooser) context(start, end int) bool {
	for i := start; i < end; i++ {
		if p.Doc.Context(i) {
			return true
		}
	}
	return false
}
