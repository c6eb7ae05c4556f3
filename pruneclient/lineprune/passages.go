package lineprune

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// keepPassages keeps the whole passage of each kept line in a list of matches with lines of context: a search that asks
// for context, such as the forty lines after a function's name, asks for that passage, and one with holes in it reads
// like the whole. A budget is a hard limit, and a very long passage is chosen line by line.
func (s *selection) keepPassages() {
	if s.budgeted() {
		return
	}
	follows, context := s.passages()
	for start, end := 0, 0; follows != nil && start < len(s.keep); start = end {
		around := context(start)
		for end = start + 1; end < len(s.keep) && follows(end); end++ {
			around = around || context(end)
		}
		if end-start > doc.PassageLines || !around {
			continue
		}
		s.keepWhole(start, end)
	}
}

// passages returns functions that report whether a line belongs to the passage of the line above, and whether it is no
// match. They are nil for a text that is no list of matches with lines of context.
func (in input) passages() (follows, context func(i int) bool) {
	if in.Kind == doc.Grep && in.Doc.Places != nil {
		return func(i int) bool {
			above, here := in.Doc.Places[i-1], in.Doc.Places[i]
			return here.Number != 0 && here.Path == above.Path && here.Number == above.Number+1
		}, in.Doc.Context
	}
	if numbers := in.Doc.NumberedMatches(); numbers != nil {
		return func(i int) bool { return numbers[i].Number != 0 && numbers[i].Number == numbers[i-1].Number+1 },
			func(i int) bool { return !numbers[i].Match }
	}
	if in.around { // without numbers, only what separates passages tells them apart
		return func(i int) bool {
				return in.Doc.Lines[i] != doc.GroupSeparator && in.Doc.Lines[i-1] != doc.GroupSeparator
			},
			func(i int) bool { return in.Doc.Lines[i] != doc.GroupSeparator }
	}
	return nil, nil
}
