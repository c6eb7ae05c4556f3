package lineprune

import (
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// selection is the lines that are kept so far. Those that fit into an allowance of tokens are kept with what they bring.
type selection struct {
	input
	keep      []cause
	brings    *company
	atoms     []span // per line, the range that is kept or dropped together with it
	used      int    // tokens kept
	kept      int    // lines kept
	allowance int    // tokens that may be kept
}

// selection returns one of the protected lines.
func (in input) selection() *selection {
	share := doc.FreeShare
	switch {
	case in.budgeted():
		share = in.opts.Budget
	case in.Kind == doc.Logs:
		share = doc.FreeLogShare
	}
	s := &selection{input: in, keep: in.protected(), brings: in.company(), atoms: in.atoms(), allowance: int(share * float64(in.Doc.Total))}
	for i, c := range s.keep {
		if c != dropped {
			s.one(i, c)
		}
	}
	return s
}

// take keeps lines in order as they fit, then each single blank line between two kept lines. A blank line
// has no value of its own.
func (s *selection) take(order []int) {
	for _, i := range order {
		if !s.Doc.Blank(i) {
			s.add(i, relevant)
		}
	}
	for i := 1; i+1 < len(s.keep); i++ {
		if s.Doc.Blank(i) && s.keep[i-1] != dropped && s.keep[i+1] != dropped {
			s.add(i, between)
		}
	}
}

// add keeps line i and the rest of its atom if they fit. It reports whether the line is kept.
func (s *selection) add(i int, why cause) bool {
	if s.keep[i] != dropped {
		return true
	}
	at := s.atomOf(i)
	if s.used+s.missing(at) > s.allowance {
		return false
	}
	s.force(at, why)
	return true
}

func (s *selection) atomOf(i int) span {
	if s.atoms != nil && s.atoms[i].end > 0 {
		return s.atoms[i]
	}
	return span{int32(i), int32(i + 1)}
}

func (s *selection) force(at span, why cause) {
	for k := at.start; k < at.end; k++ {
		s.brings.each(s.keep, int(k), func(line int, why cause) bool {
			s.one(line, why)
			return true
		})
	}
	for k := at.start; k < at.end; k++ {
		if s.keep[k] == dropped {
			s.one(int(k), why)
		}
	}
}

func (s *selection) one(i int, why cause) {
	s.keep[i] = why
	s.used += int(s.Doc.Tokens[i])
	s.kept++
}

// keepWhole keeps the lines start..end-1 if one of them is kept.
func (s *selection) keepWhole(start, end int) {
	if slices.ContainsFunc(s.keep[start:end], func(c cause) bool { return c != dropped }) {
		keepRange(s.keep, start, end)
	}
}

// surround keeps the definitions and headings that enclose kept lines, then the imports, up to a small part of the text.
func (s *selection) surround() {
	s.allowance = s.used + int(doc.ExtraShare*float64(s.Doc.Total))
	s.enclose()
	s.imports()
}

// enclose keeps the definitions and headings that enclose kept lines.
func (s *selection) enclose() {
	units := s.Outline.Units
	for i, u := range s.Outline.Of {
		if s.keep[i] == dropped {
			continue
		}
		for ; u >= 0; u = int32(units[u].Parent) {
			if head := units[u].Head; head >= 0 && s.Kind != doc.Logs {
				s.add(head, definition)
			}
		}
	}
}

func (s *selection) imports() {
	if s.Kind != doc.Code {
		return
	}
	for i, line := range s.Doc.Lines {
		if structure.IsImport(line) && !s.add(i, imported) {
			return
		}
	}
}

// reach keeps further lines in order until at least want are kept, whatever the allowance.
func (s *selection) reach(order []int, want int) {
	for _, i := range order {
		if s.kept >= want {
			return
		}
		if s.keep[i] == dropped {
			s.force(s.atomOf(i), required)
		}
	}
}

// missing returns the tokens that a range of lines adds to those kept.
func (s *selection) missing(at span) int {
	need := s.brings.missing(s.Doc, s.keep, at)
	for k := at.start; k < at.end; k++ {
		if s.keep[k] == dropped {
			need += int(s.Doc.Tokens[k])
		}
	}
	return need
}

// keepNamed keeps the lines that the question names literally, the rarest names first, up to a small part of the text.
func (s *selection) keepNamed() {
	left := max(doc.NamedTokens, int(doc.NamedPart*float64(s.Doc.Total)))
	if s.budgeted() {
		left = min(left, s.allowance-s.used)
	}
	for _, i := range s.Named {
		at := span{int32(i), int32(i + 1)}
		need := s.missing(at)
		if s.keep[i] != dropped || need > left {
			continue
		}
		left -= need
		s.force(at, named)
	}
}

// nameFields keeps the fields that the question names in the records of kept lines.
func (s *selection) nameFields() {
	if !s.Data.Nested() {
		return
	}
	in := make([]bool, len(s.Data.Parts)) // per record, whether it has a kept line
	for i, c := range s.keep {
		if r := recordOf(s.Data, i); c != dropped && r >= 0 {
			in[r] = true
		}
	}
	for _, h := range s.Matches.Hits {
		if r := recordOf(s.Data, int(h.Line)); r >= 0 && in[r] && h.Weight >= 1 {
			s.add(int(h.Line), relevant)
		}
	}
}

// outline keeps the definitions and headings that enclose the lines of a reranker, then imports and other
// definitions as long as everything it keeps stays within a smaller fraction of the tokens.
func (s *selection) outline() {
	chosen, total := s.used, float64(s.Doc.Total)
	s.allowance = chosen + int(doc.ExtraShare*total)
	s.enclose()
	s.allowance = chosen + int(doc.SkeletonShare*total)
	s.imports()
	s.skeleton()
}

// skeleton keeps some definitions that enclose no kept line, outer ones first. Lines chosen by a reranker
// can lie anywhere, and an outline shows where.
func (s *selection) skeleton() {
	if s.Kind != doc.Code {
		return
	}
	for _, outer := range []bool{true, false} {
		for _, u := range s.Outline.Units {
			if u.Head < 0 || (u.Parent < 0) != outer || s.keep[u.Head] != dropped {
				continue
			}
			if !s.besideKept(u.Head) {
				s.used += doc.MarkerTokens
			}
			if !s.add(u.Head, definition) {
				return
			}
		}
	}
}

func (s *selection) besideKept(i int) bool {
	return i > 0 && s.keep[i-1] != dropped || i+1 < len(s.keep) && s.keep[i+1] != dropped
}

// keepOne keeps the best line if the limits left nothing to read. It runs before gaps are bridged, so that
// the result still is no longer than the text.
func (s *selection) keepOne() {
	if !leavesNothing(s.Doc, s.keep) {
		return
	}
	best := -1
	for i, score := range s.Relevance.Score {
		if s.Doc.Says(i) && (best < 0 || score > s.Relevance.Score[best]) {
			best = i
		}
	}
	s.keep[max(best, 0)] = required // 0: all lines are blank
}
