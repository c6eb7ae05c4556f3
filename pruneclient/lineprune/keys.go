package lineprune

import (
	"math/bits"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/rank"
)

const (
	pathShare  = 0.75 // fraction of the question's bits that must occur on the path
	pathsKept  = 16   // if more lines than this match, the question is broader than one path
	groupsKept = 64
)

// findSpokenPath finds the line of nested keys that a question describes without spelling out the path:
// "memory limit of service-12" means the key memory below limits below service-12. It counts the words of
// the enclosing keys as occurring on that line; otherwise the lines in between would keep the words too far
// apart to count as one answer.
func findSpokenPath(t *rank.Text) {
	q := t.Question
	if len(q.Groups) > groupsKept {
		return
	}
	own, path := keyWords(t)
	least, best := pathShare*q.Asked(), 0.0
	var lines []int
	for i, words := range own {
		if words == 0 || path[i]&^words == 0 {
			continue
		}
		sum := 0.0
		for left := path[i]; left != 0; left &= left - 1 {
			sum += q.BitsOf(int16(bits.TrailingZeros64(left)))
		}
		if sum < least || sum < best {
			continue
		}
		if sum > best {
			best, lines = sum, lines[:0]
		}
		lines = append(lines, i)
	}
	if len(lines) == 0 || len(lines) > pathsKept {
		return
	}
	for left := path[lines[0]]; left != 0; left &= left - 1 {
		t.Matches.Add(int16(bits.TrailingZeros64(left)), lines)
	}
}

// keyWords returns two sets of the question's groups per line, as bit masks: own for the groups on the line
// itself, path for those on the line or on the keys that enclose it.
func keyWords(t *rank.Text) (own, path []uint64) {
	own, path = make([]uint64, len(t.Doc.Lines)), make([]uint64, len(t.Doc.Lines))
	for _, h := range t.Matches.Hits {
		own[h.Line] |= 1 << h.Group
	}
	units := make([]uint64, len(t.Outline.Units)) // parents precede their children
	for i, u := range t.Outline.Units {
		units[i] = own[u.Head]
		if u.Parent >= 0 {
			units[i] |= units[u.Parent]
		}
	}
	for i := range path {
		path[i] = own[i]
		if u := t.Outline.Of[i]; u >= 0 {
			path[i] |= units[u]
		}
	}
	return own, path
}
