package lineprune

import "github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"

// bridged returns the tokens from which a gap is worth leaving out whatever its marker.
func (in input) bridged() int {
	if in.budgeted() || in.Kind == doc.Grep {
		return 0
	}
	return doc.BridgedTokens
}

// bridge keeps the gaps that have fewer tokens than least, or are no longer than their marker.
func (s *selection) bridge(least int) {
	for i := 0; i < len(s.keep); i++ {
		start, tokens, size := i, 0, 0
		for ; i < len(s.keep) && s.keep[i] == dropped; i++ {
			tokens += int(s.Doc.Tokens[i])
			size += s.Doc.Size(i) + 1
		}
		if i > start && (tokens < least || s.opts.Marker != nil && len(s.opts.Marker(blockOf(s.Text, start, i)))+1 >= size) {
			keepRange(s.keep, start, i)
		}
	}
}

// settle keeps the gaps that are not worth their marker, and what all kept lines bring.
func (s *selection) settle(least int) {
	for range settleRounds {
		s.bridge(least)
		if !s.brings.complete(s.Doc, s.keep) {
			return
		}
	}
}

// settleRounds bounds the passes over a text in which headings and gaps call for each other.
const settleRounds = 8
