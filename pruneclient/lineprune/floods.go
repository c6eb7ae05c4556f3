package lineprune

import (
	"math/bits"
	"slices"
)

// thinned is the same without the score of what a log that is asked for a failure
// says again and again, but for the first few times and the last: a program that
// tried all night failed for one reason.
func (p *pruning) thinned() *pruning {
	if p.kind != Logs || !p.q.failure {
		return p
	}
	thin := *p
	thin.statements = p.d.statements(!p.q.lists && !p.q.tests) // "which tests failed?" asks for their names
	thin.relevance.score = slices.Clone(p.relevance.score)
	seen, left := map[uint64]int{}, map[uint64]int{}
	for _, s := range thin.statements {
		left[s]++
	}
	for i, s := range thin.statements {
		seen[s]++
		left[s]--
		if seen[s] > perTemplate && left[s] > 0 {
			thin.relevance.score[i] = 0
		}
	}
	return &thin
}

// statementOf is equal for lines that one statement printed.
func (p *pruning) statementOf(i int) uint64 {
	if p.statements != nil {
		return p.statements[i]
	}
	return template(p.d.lines[i])
}

// Lines that differ in names, not only in numbers, are one statement's where at least
// floodLines have the same other words, and those are the most of each. A name is a
// word that fewer than one line in nameShare has.
const (
	floodLines = 20
	nameShare  = 50
)

// statements gives lines that one statement printed one number, though names differ
// where despite says so.
func (d *document) statements(despite bool) []uint64 {
	of := make([]uint64, len(d.lines))
	for i, line := range d.lines {
		of[i] = template(line)
	}
	if !despite {
		return of
	}
	var common wordCounts
	for _, line := range d.lines {
		eachLogWord(line, func(word uint64) { common[word%uint64(len(common))]++ })
	}
	least := int32(max(len(d.lines)/nameShare, 2))
	frame := func(line string) uint64 {
		h, words, names := uint64(1), 0, 0
		eachLogWord(line, func(word uint64) {
			words++
			if common[word%uint64(len(common))] < least {
				names++
				word = '0'
			}
			h = mix(h, word)
		})
		if names == 0 || words-names < 3 || 2*names > words {
			return template(line)
		}
		return h
	}
	slots, counts := d.count(frame)
	for i, s := range slots {
		if counts[s] >= floodLines {
			of[i] = uint64(s)
		}
	}
	return of
}

// wordCounts counts words by their hash. Two that share a place look more common than
// they are, which only keeps more.
type wordCounts [1 << 14]int32

// eachLogWord hashes the words of a line as template does: all numbers are one.
func eachLogWord(line string, word func(uint64)) {
	const prefix = 300
	line = line[:min(len(line), prefix)]
	for i := 0; i < len(line); i++ {
		h, seen := uint64(0), byte(0)
		for ; i < len(line) && wordClass(class[line[i]]); i++ {
			seen |= 1 << class[line[i]]
			h = bits.RotateLeft64(h, 7) ^ uint64(line[i])
		}
		switch {
		case seen == 0:
		case seen&(1<<digit) != 0:
			word('0')
		default:
			word(mix(h, 0))
		}
	}
}
