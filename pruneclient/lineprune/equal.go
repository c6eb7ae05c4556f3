package lineprune

import (
	"hash/maphash"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/rank"
)

// firstEqual returns for every line with a word of the question the first line that is equal to it, or -1. It is nil where
// equal lines mean different things, as in a program.
func firstEqual(t *rank.Text) []int32 {
	if !t.Listing {
		return nil
	}
	seed, firsts := maphash.MakeSeed(), map[uint64]int32{}
	asks := linesAsked(t)
	for i, yes := range asks {
		if yes {
			if h, ok := equalKey(t.Doc, seed, i); ok {
				firsts[h] = -1
			}
		}
	}
	if len(firsts) == 0 {
		return nil
	}
	first := make([]int32, len(asks))
	for i, yes := range asks {
		first[i] = -1
		h, ok := equalKey(t.Doc, seed, i)
		if !ok {
			continue
		}
		at, asked := firsts[h]
		switch {
		case asked && at < 0:
			firsts[h] = int32(i)
		case asked && yes:
			first[i] = at
		}
	}
	return first
}

// linesAsked marks the lines with a word of the question that says something.
func linesAsked(t *rank.Text) []bool {
	asks := make([]bool, len(t.Doc.Lines))
	for _, h := range t.Matches.Hits {
		if h.Weight == 1 && t.Question.BitsOf(h.Group) >= doc.EqualBits {
			asks[h.Line] = true
		}
	}
	return asks
}

// equalKey returns a hash that is the same for equal lines. The handle by which a browser's tool names an element differs
// in every line, and says nothing about it.
func equalKey(d *doc.Document, seed maphash.Seed, i int) (uint64, bool) {
	line := strings.TrimSpace(d.Scanned(i))
	if rest, ok := strings.CutPrefix(line, "uid="); ok {
		_, line, _ = strings.Cut(rest, " ")
	} else if start := strings.Index(line, "[ref="); start >= 0 {
		if _, rest, ok := strings.Cut(line[start:], "]"); ok {
			line = line[:start] + rest
		}
	}
	if len(line) < doc.EqualBytes {
		return 0, false
	}
	return maphash.String(seed, line), true
}
