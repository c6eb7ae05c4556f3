package lineprune

import (
	"math/bits"

	"mcp-pruner/pruneclient/lineprune/rank"
)

// Bounds of a path of keys that a question says in its own order.
const (
	pathShare  = 0.75 // of what the question asks has to stand on the path
	pathsKept  = 16   // more lines than this answer a broader question
	groupsKept = 64
)

// findSpokenPath finds the line of nested keys that a question means without spelling
// the path: "memory limit of service-12" is a memory below a limits below a service-12.
// The words of the keys above it then count as its own, which the lines between them
// would otherwise keep far apart.
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

// keyWords are, as sets of the question's groups, what each line has itself, and what
// it has together with the keys above it.
func keyWords(t *rank.Text) (own, path []uint64) {
	own, path = make([]uint64, len(t.Doc.Lines)), make([]uint64, len(t.Doc.Lines))
	for _, h := range t.Matches.Hits {
		own[h.Line] |= 1 << h.Group
	}
	units := make([]uint64, len(t.Outline.Units)) // parents come before what is in them
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
